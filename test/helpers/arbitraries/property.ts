import type { TestContext } from 'node:test'
import fc from 'fast-check'

/** The seed of all properties in one run. PROPERTY_SEED repeats a run. */
export const PROPERTY_SEED = Number(process.env['PROPERTY_SEED'] ?? Date.now() % 2 ** 31)

/** How often each property is tried. The weekly run tries each 10,000 times. */
export const PROPERTY_RUNS = Number(process.env['PROPERTY_RUNS'] ?? 300)

/** Tries a property as often as asked for, and names the seed. */
export async function holds<Ts>(t: TestContext, property: fc.IAsyncProperty<Ts>): Promise<void> {
  t.diagnostic(`${PROPERTY_RUNS} runs, PROPERTY_SEED=${PROPERTY_SEED}`)
  await fc.assert(property, { seed: PROPERTY_SEED, numRuns: PROPERTY_RUNS })
}
