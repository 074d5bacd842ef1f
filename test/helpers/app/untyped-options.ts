import type { AuthOptions } from '../../../lib/index.ts'

/** Options as JavaScript gives them: nobody has checked their names or types. */
export function untyped(options: object): AuthOptions {
  return { ...options }
}
