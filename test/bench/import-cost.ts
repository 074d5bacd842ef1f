import { spawnSync } from 'node:child_process'
import type { Costs } from './contest.ts'

/** Imports of each module in a round. One takes a tenth of a second. */
const IMPORTS = 2

/**
 * Microseconds of CPU time that an import takes, all threads together, each in a process of its
 * own, in turn and in the next round back.
 *
 * @param modules names of contestants, and what they import
 * @param before what the process has imported already
 */
export function importCosts(
  modules: Readonly<Record<string, string>>,
  before: readonly string[],
  rounds: number,
): Costs {
  const costs = new Map(Object.keys(modules).map((name): [string, number[]] => [name, []]))
  for (let round = 0; round < rounds * IMPORTS; round++) {
    const all = Object.entries(modules)
    for (const [name, module] of round % 2 === 0 ? all : all.toReversed()) {
      costs.get(name)?.push(importCost(module, before))
    }
  }
  return costs
}

function importCost(module: string, before: readonly string[]): number {
  const program = [
    ...before.map((name) => `await import(${JSON.stringify(name)})`),
    'const begun = process.cpuUsage()',
    `await import(${JSON.stringify(module)})`,
    'const { user, system } = process.cpuUsage(begun)',
    'console.log(user + system)',
  ].join('\n')
  // Names are resolved from the folder that it runs in.
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { encoding: 'utf8' },
  )
  const cost = Number(stdout)
  if (status !== 0 || !(cost > 0)) throw new Error(`${module} was not imported:\n${stderr}`)
  return cost
}
