import { spawnSync } from 'node:child_process'

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
