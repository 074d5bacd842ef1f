import { readFileSync } from 'node:fs'

/** Linux counts the time of processes in these parts of a second, on every processor of ours. */
const TICKS = 100

/**
 * Seconds of user and system time that a process has used, all its threads together. Undefined:
 * there is no /proc here.
 */
export function cpuTime(pid: number): number | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The name of the program is in parentheses, and may hold blanks. The third field follows it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system] = fields.slice(11, 13).map(Number)
  return user === undefined || system === undefined ? undefined : (user + system) / TICKS
}
