import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const POSTGRESQL = '/usr/lib/postgresql'

/** Debian keeps the commands of servers out of the PATH. */
function folders(): string[] {
  const versions = existsSync(POSTGRESQL) ? readdirSync(POSTGRESQL).sort().reverse() : []
  const postgresql = versions.map((version) => join(POSTGRESQL, version, 'bin'))
  return [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', ...postgresql]
}

/** The real path of a command that may not be installed. */
export function findCommand(name: string): string | undefined {
  const path = folders()
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file))
  return path && realpathSync(path)
}

/** Why a test is skipped that needs commands; false: they are all there. */
export function missing(...names: readonly string[]): string | false {
  const absent = names.filter((name) => findCommand(name) === undefined)
  return absent.length > 0 && `not installed here: ${absent.join(', ')}`
}

/** Whom a server runs as that refuses to run as root. */
export function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (kind: string) =>
    Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}
