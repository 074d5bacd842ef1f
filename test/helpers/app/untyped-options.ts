import type { AuthOptions } from '../../../lib/index.ts'

/** Options as JavaScript gives them: their names and types are not checked. */
export function untyped(options: object): AuthOptions {
  return { ...options }
}
