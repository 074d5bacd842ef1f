import { type Built, compared } from './compared.ts'
import { eachSize } from './each-size.ts'
import type { Ask } from './exchange.ts'
import { guarded, type Setup } from './guarded.ts'
import { bytesNow, bytesOfEach } from './kept-bytes.ts'
import { asking, asksOf } from './requests.ts'
import type { Row } from './series.ts'

/** Those who ask while it is measured. */
const FEW = 10

/** Whose rights are kept. */
const BOUND = 10_000

interface Way {
  readonly what: string
  /** Seconds. An answer that is kept so shortly is in the table, and asked for with each request. */
  readonly resourcesMaxAge: number
}

const WAYS: readonly Way[] = [
  { what: 'known', resourcesMaxAge: 86_400 },
  { what: 'asked for', resourcesMaxAge: 1e-9 },
]

export function users(setup: Setup): Row {
  return {
    name: 'users',
    sizes: [10, 100, 1_000, 10_000, 100_000],
    async *series(sizes) {
      const asks = await asksOf(setup.authority, Math.max(...sizes), () => ({ letters: 0 }))
      for (const way of WAYS) {
        const built = await eachSize(sizes, (size) => build(way, asks.slice(0, size)))
        yield compared(`users under resourcesOf, ${way.what}`, built)
      }
    },
  }

  async function build({ resourcesMaxAge }: Way, asks: readonly Ask[]): Promise<Built> {
    const app = await guarded(setup, {
      ...setup.authority.options,
      // The tokens of the others would be counted as memory of the users.
      tokenCacheSize: 10 * FEW,
      resourcesMaxAge,
      resourcesOf: async () => ({ acme: ['menu:read', 'order:read'], '*': ['profile:read'] }),
    })
    const first = asks.slice(0, 10 * FEW)
    await asking(app, first)(first.length)
    const before = await bytesNow()
    await asking(app, asks)(asks.length)
    const bytes = await bytesOfEach(Math.min(asks.length, BOUND) - first.length, before)
    return { size: `${asks.length}`, app, asks: asks.slice(0, FEW), bytes }
  }
}
