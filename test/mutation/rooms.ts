import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './compiled.ts'

/** The folders of `lib/` that decide on a request. Each of their mutants must be noticed. */
export const ROOMS = [
  'rights',
  'tenants',
  'keys',
  'declaration',
  'outside',
  'authentication',
  'tokens',
  'guard',
] as const

/** The files of a room, with their paths in the repository. */
export function filesOf(room: string): string[] {
  return readdirSync(join(ROOT, 'lib', room))
    .sort()
    .map((name) => `lib/${room}/${name}`)
}
