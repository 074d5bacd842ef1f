import { createPublicKey } from 'node:crypto'
import { createTestAuthority, type TestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { type Contestant, type Costs, contest, type Rounds } from './contest.ts'
import type { DriverName, Load } from './drivers.ts'
import type { BenchSetup, GuardName } from './guards.ts'
import { importCosts } from './import-cost.ts'
import { bearerTokens, boundTokens, PUBLIC_URL, refusedLoads } from './tokens.ts'

export const KINDS = [
  ...(['warm', 'many', 'cold', 'asyncContext', 'bound', 'refusals', 'import'] as const),
] as const

export type Kind = (typeof KINDS)[number]

export const PEERS = ['@fastify/jwt', 'fastify-jwt-jwks', 'jose'] as const

const PATH = '/acme/menu'

/** Users that come again and again, each with a token. */
const USERS = 100

/** Different tokens, sent in turn. */
const TOKENS = 10_000

/** Tokens that a cache can hold: twice the most that are sent. */
const ENOUGH = 20_000

/**
 * Tokens that the cache holds of those that should be new. Of so few, none is still there when it
 * comes again, even where a busy machine sends only some hundreds of the first ones in each round.
 */
const TOO_FEW = 100

/** The contestant that is the same as another one, and shows how far equal servers are apart. */
export const AGAIN = 'again'

/** Contestants whose costs are compared with each other. */
export interface Row {
  readonly kind: Kind
  /** What it is called in a table. */
  readonly name: string
  /** By each driver. An import needs none, and is the same by each. */
  run(rounds: Rounds): Promise<ReadonlyMap<DriverName, Costs>>
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
    const wanted = kinds.filter(
      (kind) => kind !== 'import' && (isOfAlgorithm(kind) || algorithm === algorithms[0]),
    )
    if (wanted.length === 0) continue
    await using authority = await createTestAuthority({ algorithm })
    const setup = await setupFor(authority, { algorithm, ...builds, cacheSize: ENOUGH })
    const isMany = wanted.some((kind) => kind === 'many' || kind === 'cold')
    const tokens = await bearerTokens(authority, isMany ? TOKENS : USERS)
    for (const kind of wanted) {
      const authorizations = kind === 'many' || kind === 'cold' ? tokens : tokens.slice(0, USERS)
      const load = { path: PATH, authorizations, status: 200 }
      const contestants = await contestantsOf(kind, authority, setup, load, builds)
      yield {
        kind,
        name: isOfAlgorithm(kind) ? `${kind}, ${algorithm}` : kind,
        run: (rounds) => contest(contestants, rounds),
      }
    }
  }
  if (kinds.includes('import')) yield* importRows(builds)
}

/** What the servers of one contest get. The authority begins to serve its keys. */
export async function setupFor(
  authority: TestAuthority,
  { algorithm, plugin, cacheSize }: Pick<BenchSetup, 'algorithm' | 'plugin' | 'cacheSize'>,
): Promise<BenchSetup> {
  const [jwk] = authority.publicKeys.keys
  if (jwk === undefined) throw new Error('no key')
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
  return {
    algorithm,
    plugin,
    cacheSize,
    publicKeys: { keys: [jwk] },
    publicKeysUrl: await authority.listen(),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    issuer: authority.issuer,
    audience: authority.audience,
  }
}

async function contestantsOf(
  kind: Kind,
  authority: TestAuthority,
  setup: BenchSetup,
  load: Load,
  builds: Builds,
): Promise<Contestant[]> {
  switch (kind) {
    case 'refusals':
      return refusers(setup, load, await refusedLoads(authority, PATH, USERS), builds)
    case 'bound':
      return provers(authority, setup, { ...load, authorizations: load.authorizations.slice(0, 1) })
    case 'asyncContext':
      return [
        ours('this plugin', setup, load),
        ours('on', { ...setup, asyncContext: true }, load),
        ours(AGAIN, setup, load),
      ]
    case 'cold':
      return admitters(['verify', 'claims'], { ...setup, cacheSize: TOO_FEW }, load, builds)
    default:
      return admitters([], setup, load, builds)
  }
}

/** The same requests to all of them. */
function admitters(
  bare: readonly GuardName[],
  setup: BenchSetup,
  load: Load,
  { against }: Builds,
): Contestant[] {
  // A cache that finds nothing would only cost a peer time.
  const peerSetup = setup.cacheSize === TOO_FEW ? { ...setup, cacheSize: 0 } : setup
  const peers = PEERS.filter((name) => setup.algorithm !== 'ES256' || name !== 'fastify-jwt-jwks')
  return [
    ...(['none', 'floor', ...bare, 'this plugin'] as const).map((name) => ({
      ...{ name, guard: name, setup, load },
    })),
    ...peers.map((name) => ({ name, guard: name, setup: peerSetup, load })),
    ours(AGAIN, setup, load),
    ...(against === undefined ? [] : [ours('against', { ...setup, plugin: against }, load)]),
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
    ours('unbound', proved, load),
    ours('bound', proved, bound),
    ours(AGAIN, proved, bound),
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
    { name: 'a bare hook, 401', guard: 'refuse', setup, load: stranger },
    ...Object.entries(refused).flatMap(([what, each]) => {
      const name = `${what}, ${each.status}`
      const other = { ...setup, plugin: against ?? '' }
      return [
        ours(name, setup, each),
        ...(against === undefined ? [] : [ours(`${name}, against`, other, each)]),
      ]
    }),
    { name: AGAIN, guard: 'none', setup, load },
  ]
}

function ours(name: string, setup: BenchSetup, load: Load): Contestant {
  return { name, guard: 'this plugin', setup, load }
}

/** In a bare process, and in one that has imported Fastify, as an application has. */
function* importRows({ plugin, against }: Builds): Generator<Row> {
  const modules = {
    'this plugin': plugin,
    '@fastify/jwt': '@fastify/jwt',
    [AGAIN]: plugin,
    ...(against !== undefined && { against }),
  }
  for (const [name, before] of [
    ['alone', []],
    ['after Fastify', ['fastify']],
  ] as const) {
    yield {
      kind: 'import',
      name: `import, ${name}`,
      async run({ rounds, drivers }) {
        const costs = importCosts(modules, before, rounds)
        return new Map(drivers.map((driver) => [driver, costs]))
      },
    }
  }
}
