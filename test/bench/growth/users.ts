import { guarded, type Setup } from './application.ts'
import { type Built, growing, keptBytes } from './compared.ts'
import type { Ask } from './exchange.ts'
import type { Row } from './measure.ts'
import { asking } from './requests.ts'

/** Those who ask while it is measured. */
const FEW = 10

const ALL = 100_000

/** Whose rights are kept. */
const BOUND = 10_000

interface Way {
  readonly what: string
  /** Seconds. What is kept so shortly is in the table, and asked for with each request. */
  readonly resourcesMaxAge: number
  readonly asking: number
  /**
   * The tokens of those who do not ask would be counted as memory of the users. Where all ask in
   * turn, each token is asked for too, so that each size does the same work.
   */
  readonly keptTokens: number
}

const WAYS: readonly Way[] = [
  { what: 'known', resourcesMaxAge: 86_400, asking: FEW, keptTokens: 10 * FEW },
  { what: 'asked for', resourcesMaxAge: 1e-9, asking: FEW, keptTokens: 10 * FEW },
  { what: 'asked for, all in turn', resourcesMaxAge: 1e-9, asking: ALL, keptTokens: 1 },
]

/** Their tokens are no JWTs: to sign and verify 100 000 of them would take a minute. */
export function users(setup: Setup): Row {
  const ways = WAYS.map((way) => [
    `users under resourcesOf, ${way.what}`,
    (size: number) => build(way, size),
  ])
  return growing('users', [10, 100, 1_000, 10_000, ALL], Object.fromEntries(ways))

  async function build(way: Way, size: number): Promise<Built> {
    const { publicKeys } = setup.authority
    const app = await guarded(setup, {
      publicKeys,
      opaqueToken: (token) => ({ sub: token }),
      opaqueMaxAge: 86_400,
      tokenCacheSize: way.keptTokens,
      resourcesMaxAge: way.resourcesMaxAge,
      resourcesOf: async () => ({ acme: ['menu:read', 'order:read'], '*': ['profile:read'] }),
    })
    const asks = Array.from({ length: size }, (_, serial) => askOf(serial))
    const first = asks.slice(0, 10 * FEW)
    await asking(app, first)(first.length)
    const { bytes } = await keptBytes(Math.min(size, BOUND) - first.length, async () => {
      await asking(app, asks)(asks.length)
    })
    const only = way.asking === ALL ? {} : { bytes }
    return { app, asks: asks.slice(0, way.asking), ...only }
  }
}

function askOf(serial: number): Ask {
  const authorization = Buffer.from(`Bearer user-${serial}`.padEnd(140, '-'))
  return { url: '/acme/menu', authorization, status: 200 }
}
