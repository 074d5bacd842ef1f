import type { KeySet } from './key-set.ts'

/** How the name of each key of a test authority begins. */
export const TEST_KEY_NAME = 'fastify-tenant-auth-test-'

/** Whether keys are those of a test authority, which signs what anybody asks for. */
export function areTestKeys({ kids }: KeySet): boolean {
  return kids.some((kid) => kid?.startsWith(TEST_KEY_NAME))
}
