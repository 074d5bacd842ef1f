import { existsSync, readFileSync } from 'node:fs'

/** Whether a process runs. One that has ended, and whose parent has not asked for it, does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const file = `/proc/${pid}/stat`
  return !existsSync(file) || !/\) Z /.test(readFileSync(file, 'utf8'))
}
