import { createTestAuthority, type TestAuthority } from '../../lib/entrypoints/testing/index.ts'
import type { Contestant } from './contest.ts'
import type { BenchSetup, GuardName } from './guards.ts'
import type { Load } from './load.ts'
import { refusedLoads } from './refused-loads.ts'
import { setupFor } from './setup.ts'
import { bearerTokens, boundTokens, PUBLIC_URL } from './tokens.ts'

export const KINDS = ['warm', 'many', 'cold', 'bound', 'refusals'] as const

export type Kind = (typeof KINDS)[number]

export const PEERS = ['@fastify/jwt', 'fastify-jwt-jwks', 'jose'] as const

const PATH = '/acme/menu'

/** Different tokens, sent in turn. */
const TOKENS = 10_000

/**
 * How many of them a cache keeps. Of so few, no token is still there when it comes again, even
 * where a busy machine sends only some hundreds of the first ones in each round.
 */
const CACHE_SIZES = {
  warm: 20_000,
  many: 20_000,
  cold: 100,
  bound: 20_000,
  refusals: 20_000,
} as const

/** Contestants whose costs are compared with each other. */
export interface Row {
  readonly kind: Kind
  readonly algorithm: string
  readonly contestants: readonly Contestant[]
}

/** Addresses of the modules of this plugin, and of another state of it. */
export interface Builds {
  readonly plugin: string
  readonly against: string | undefined
}

/**
 * Only what is cold or bound costs otherwise with another algorithm, so the others have the first
 * one.
 */
export async function* rowsOf(
  kinds: readonly Kind[],
  algorithms: readonly string[],
  builds: Builds,
): AsyncGenerator<Row> {
  for (const algorithm of algorithms) {
    const isOfAlgorithm = (kind: Kind) => kind === 'cold' || kind === 'bound'
    const wanted = kinds.filter((kind) => isOfAlgorithm(kind) || algorithm === algorithms[0])
    if (wanted.length === 0) continue
    const authority = await createTestAuthority({ algorithm })
    try {
      const { plugin } = builds
      const setup = await setupFor(authority, { algorithm, plugin, cacheSize: 0 })
      const isMany = wanted.some((kind) => kind === 'many' || kind === 'cold')
      const tokens = await bearerTokens(authority, isMany ? TOKENS : 1)
      const refused = wanted.includes('refusals') ? await refusedLoads(authority, PATH) : {}
      for (const kind of wanted) {
        const sized = { ...setup, cacheSize: CACHE_SIZES[kind] }
        const authorizations = kind === 'many' || kind === 'cold' ? tokens : tokens.slice(0, 1)
        const load = { path: PATH, authorizations, status: 200 }
        yield {
          kind,
          algorithm,
          contestants:
            kind === 'refusals'
              ? refusers(sized, load, refused, builds)
              : kind === 'bound'
                ? await provers(authority, sized, load)
                : admitters(kind, sized, load, builds),
        }
      }
    } finally {
      await authority.close()
    }
  }
}

/** The same requests to all of them. */
function admitters(kind: Kind, setup: BenchSetup, load: Load, { against }: Builds): Contestant[] {
  const verify: GuardName[] = kind === 'cold' ? ['verify', 'claims'] : []
  // A cache that finds nothing would only cost a peer time.
  const peerSetup = kind === 'cold' ? { ...setup, cacheSize: 0 } : setup
  const ours: GuardName[] = ['none', 'floor', ...verify, 'this plugin']
  const peers = PEERS.filter((name) => setup.algorithm !== 'ES256' || name !== 'fastify-jwt-jwks')
  return [
    ...ours.map((name) => ({ name, guard: name, setup, load })),
    ...peers.map((name) => ({ name, guard: name, setup: peerSetup, load })),
    ...(against === undefined ? [] : [other('against', setup, load, against)]),
  ]
}

/** What a bound token costs, and the parts of that: an unbound one, and the bare proof. */
async function provers(
  authority: TestAuthority,
  setup: BenchSetup,
  load: Load,
): Promise<Contestant[]> {
  const { proofKeyPem, ...sent } = await boundTokens(authority, setup.algorithm, PATH)
  const proved = { ...setup, bound: { publicUrl: PUBLIC_URL, proofKeyPem } }
  const bound = { ...load, ...sent }
  return [
    { name: 'none', guard: 'none', setup, load },
    { name: 'proof', guard: 'proof', setup: proved, load: bound },
    { name: 'unbound', guard: 'this plugin', setup: proved, load },
    { name: 'bound', guard: 'this plugin', setup: proved, load: bound },
  ]
}

/** One unguarded route, one refusal of a bare hook, and each refusal of ours. */
function refusers(
  setup: BenchSetup,
  load: Load,
  refused: Readonly<Record<string, Load>>,
  { against }: Builds,
): Contestant[] {
  const stranger = { ...load, authorizations: [], status: 401 }
  return [
    { name: 'none', guard: 'none', setup, load },
    { name: 'refuse', guard: 'refuse', setup, load: stranger },
    ...Object.entries(refused).flatMap(([name, each]) => [
      { name, guard: 'this plugin' as const, setup, load: each },
      ...(against === undefined ? [] : [other(`${name}, against`, setup, each, against)]),
    ]),
  ]
}

function other(name: string, setup: BenchSetup, load: Load, plugin: string): Contestant {
  return { name, guard: 'this plugin', setup: { ...setup, plugin }, load }
}
