import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { DRIVERS, type DriverName, driverOfThisMachine } from './drivers.ts'
import { type Builds, KINDS, type Kind } from './rows.ts'

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA']

export interface Flags {
  readonly rounds: number
  readonly seconds: number
  readonly kinds: readonly Kind[]
  readonly algorithms: readonly string[]
  readonly drivers: readonly DriverName[]
  readonly builds: Builds
  readonly isMarkdown: boolean
}

/** @throws Error for a flag or value that the bench does not know */
export function readFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '16' },
      seconds: { type: 'string', default: '1' },
      only: { type: 'string', default: KINDS.join() },
      algorithms: { type: 'string', default: ALGORITHMS.join() },
      driver: { type: 'string', default: driverOfThisMachine() },
      against: { type: 'string' },
      markdown: { type: 'boolean', default: false },
    },
  })
  return {
    rounds: positive('rounds', values.rounds),
    seconds: positive('seconds', values.seconds),
    kinds: listed('only', values.only, KINDS),
    algorithms: listed('algorithms', values.algorithms, ALGORITHMS),
    drivers: listed('driver', values.driver, DRIVERS),
    builds: {
      plugin: buildOf('.'),
      against: values.against === undefined ? undefined : buildOf(values.against),
    },
    isMarkdown: values.markdown,
  }
}

function positive(flag: string, value: string): number {
  const number = Number(value)
  if (Number.isInteger(number) && number > 0) return number
  throw new Error(`--${flag} is a whole number from 1, not ${value}`)
}

/** In the order of the whole list. */
function listed<T extends string>(flag: string, value: string, all: readonly T[]): T[] {
  const wanted = value.split(',')
  const unknown = wanted.find((name) => !all.some((known) => known === name))
  if (unknown === undefined) return all.filter((known) => wanted.includes(known))
  throw new Error(`--${flag} is some of ${all.join(', ')}, not ${unknown}`)
}

/** The module that `npm run build` makes in a checkout. */
function buildOf(checkout: string): string {
  const module = resolve(checkout, 'dist/index.js')
  if (!existsSync(module)) throw new Error(`${module} is not there; npm run build makes it`)
  return pathToFileURL(module).href
}
