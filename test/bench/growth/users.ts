import { type Built, compared } from './compared.ts'
import { eachSize } from './each-size.ts'
import type { Ask } from './exchange.ts'
import { guarded, type Setup } from './guarded.ts'
import { keptBytes } from './kept-bytes.ts'
import { asking } from './requests.ts'
import type { Row } from './series.ts'

/** Those who ask while it is measured. */
const FEW = 10

/** Whose rights are kept. */
const BOUND = 10_000

interface Way {
  readonly what: string
  /** Seconds. What is kept so shortly is in the table, and asked for with each request. */
  readonly resourcesMaxAge: number
  readonly asking: number
}

const WAYS: readonly Way[] = [
  { what: 'known', resourcesMaxAge: 86_400, asking: FEW },
  { what: 'asked for', resourcesMaxAge: 1e-9, asking: FEW },
  { what: 'asked for, all in turn', resourcesMaxAge: 1e-9, asking: Number.POSITIVE_INFINITY },
]

/** Their tokens are no JWTs: to sign and verify 100 000 of them would take a minute. */
export function users(setup: Setup): Row {
  return {
    name: 'users',
    sizes: [10, 100, 1_000, 10_000, 100_000],
    async *series(sizes) {
      for (const way of WAYS) {
        const built = await eachSize(sizes, (size) => build(way, size))
        yield compared(`users under resourcesOf, ${way.what}`, built)
      }
    },
  }

  async function build({ resourcesMaxAge, asking: some }: Way, size: number): Promise<Built> {
    const { publicKeys } = setup.authority
    const app = await guarded(setup, {
      publicKeys,
      opaqueToken: (token) => ({ sub: token }),
      opaqueMaxAge: 86_400,
      // The tokens of the others would be counted as memory of the users.
      tokenCacheSize: 10 * FEW,
      resourcesMaxAge,
      resourcesOf: async () => ({ acme: ['menu:read', 'order:read'], '*': ['profile:read'] }),
    })
    const asks = Array.from({ length: size }, (_, serial) => askOf(serial))
    const first = asks.slice(0, 10 * FEW)
    await asking(app, first)(first.length)
    const { bytes } = await keptBytes(Math.min(size, BOUND) - first.length, async () => {
      await asking(app, asks)(asks.length)
    })
    return { size: `${size}`, app, asks: asks.slice(0, some), bytes }
  }
}

function askOf(serial: number): Ask {
  const authorization = Buffer.from(`Bearer user-${serial}`.padEnd(140, '-'))
  return { url: '/acme/menu', authorization, status: 200 }
}
