import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** All servers stand on one core. The load has the other one. */
const SERVERS = '0'
const LOAD = '1'

/** Moves this process, and what it starts from now on. False: cores cannot be chosen here. */
export function pinLoad(): boolean {
  return pin(process.pid, LOAD)
}

/** Moves a server with all its threads. */
export function pinServer(pid: number): boolean {
  return pin(pid, SERVERS)
}

function pin(pid: number, core: string): boolean {
  return spawnSync('taskset', ['-a', '-p', '-c', core, String(pid)]).status === 0
}

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
