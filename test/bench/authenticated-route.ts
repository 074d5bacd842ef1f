import { createPublicKey, randomBytes } from 'node:crypto'
import { cpus } from 'node:os'
import { createTestAuthority } from '../../lib/testing.ts'
import { type BenchSetup, GUARDS, type GuardName } from './guards.ts'
import { type Figures, pinLoad, Served } from './served.ts'
import { median, quartiles } from './statistics.ts'

const MODES = {
  warm: { tokens: 100, cacheSize: 20_000, amount: 24_000 },
  many: { tokens: 10_000, cacheSize: 20_000, amount: 24_000 },
  cold: { tokens: 100, cacheSize: 0, amount: 8_000 },
} as const

type Mode = keyof typeof MODES

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA']

const rounds = Number(process.env['ROUNDS'] ?? 20)
const modes = chosen('MODES', Object.keys(MODES)).filter((mode): mode is Mode => mode in MODES)
const algorithms = chosen('ALGORITHMS', ALGORITHMS)

const isPinned = pinLoad()
console.log(
  `Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, ${rounds} rounds, server and load ${isPinned ? 'on a core each' : 'not pinned'}\n`,
)
console.log(
  '| mode | algorithm | guard | of unguarded, median (quartiles) | requests/s | p99 ms |\n|---|---|---|---|---|---|',
)
for (const mode of modes) {
  for (const algorithm of algorithms) await compare(mode, algorithm)
}

/**
 * All guards in turn, in another order each round. Each figure is compared with the unguarded
 * server of its round.
 */
async function compare(mode: Mode, algorithm: string): Promise<void> {
  const authority = await createTestAuthority({ algorithm })
  const { tokens: count, cacheSize, amount } = MODES[mode]
  const tokens = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      authority.token(
        {
          sub: `user-${i}`,
          preferred_username: `user-${i}`,
          // About 700 characters, as real tokens have.
          jti: randomBytes(32).toString('hex'),
          resources: { acme: ['menu:read', 'order:read'], '*': ['profile:read'] },
        },
        { expiresIn: 86_400 },
      ),
    ),
  )
  const [jwk] = authority.publicKeys.keys
  if (jwk === undefined) throw new Error('no key')
  const setup: BenchSetup = {
    algorithm,
    publicKeys: { keys: [jwk] },
    publicKeysUrl: await authority.listen(),
    publicKeyPem: createPublicKey({ key: jwk, format: 'jwk' })
      .export({ type: 'spki', format: 'pem' })
      .toString(),
    issuer: authority.issuer,
    audience: authority.audience,
    cacheSize,
  }
  const names = GUARDS.filter((name) => algorithm !== 'ES256' || name !== 'fastify-jwt-jwks')
  const served = await Promise.all(names.map((name) => Served.start(name, setup)))
  const figures = new Map<GuardName, Figures[]>(names.map((name) => [name, []]))
  try {
    for (const server of served) await server.load(tokens, Math.max(amount, count * 2))
    for (let round = 0; round < rounds; round++) {
      for (const server of rotated(served, round)) {
        figures.get(server.name)?.push(await server.load(tokens, amount))
      }
    }
  } finally {
    for (const server of served) server.stop()
    await authority.close()
  }
  report(mode, algorithm, figures)
}

function report(mode: Mode, algorithm: string, figures: ReadonlyMap<GuardName, Figures[]>): void {
  const unguarded = figures.get('none') ?? []
  for (const [name, rows] of figures) {
    const ratios = rows.map(
      (row, i) => row.perCpuSecond / (unguarded[i]?.perCpuSecond ?? Number.NaN),
    )
    const [low, high] = quartiles(ratios)
    const cells = [
      mode,
      algorithm,
      name,
      `${median(ratios).toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)})`,
      Math.round(median(rows.map((row) => row.perSecond))),
      median(rows.map((row) => row.p99)).toFixed(2),
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

/** The order differs in each round, so that no guard always runs after the same one. */
function rotated<T>(items: readonly T[], by: number): T[] {
  const start = by % items.length
  const turned = [...items.slice(start), ...items.slice(0, start)]
  return by % 2 === 0 ? turned : turned.reverse()
}

function chosen(variable: string, all: readonly string[]): string[] {
  const wanted = process.env[variable]?.split(',') ?? all
  return all.filter((item) => wanted.includes(item))
}
