import { spawnSync } from 'node:child_process'
import { autocannonDriver } from './autocannon-driver.ts'
import type { Driver } from './load.ts'
import { wrkDriver } from './wrk-driver.ts'

export const DRIVERS = ['wrk', 'autocannon'] as const

export type DriverName = (typeof DRIVERS)[number]

export const drivers: Readonly<Record<DriverName, Driver>> = {
  wrk: wrkDriver,
  autocannon: autocannonDriver,
}

/** A package of Debian drives faster than one of npm. */
export function driverOfThisMachine(): DriverName {
  return spawnSync('wrk', ['-v']).error === undefined ? 'wrk' : 'autocannon'
}
