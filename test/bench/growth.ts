import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Fastify, { type FastifyInstance } from 'fastify'
import tenantAuth, { type AuthOptions } from 'fastify-tenant-auth'
import { createTestAuthority, type TestAuthority } from '../../lib/testing.ts'
import type { Boot } from './boot.ts'
import { compareLookUps, filledList } from './look-ups.ts'
import { median, quartiles } from './statistics.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 15)
const REQUESTS = 2_000

/** One size of one dimension: an application ready for warm requests. */
interface Size {
  readonly size: number
  readonly app: FastifyInstance
  readonly requests: readonly { url: string; headers: { authorization: string } }[]
}

const config = {
  tenant: 'required',
  userInfo: true,
  resources: true,
  require: 'menu:read',
} as const
const authority = await createTestAuthority({ algorithm: 'ES256' })

console.log('| boot of 10 000 routes | against the same without the plugin |\n|---|---|')
for (const isChildScope of [false, true]) {
  const ratios: number[] = []
  for (let round = 0; round < Math.min(ROUNDS, 7); round++) {
    const without = await bootTime({ isChildScope })
    ratios.push((await bootTime({ isChildScope, options: authority.options })) / without)
  }
  const [low, high] = quartiles(ratios)
  console.log(
    `| ${isChildScope ? 'child scope' : 'root instance'} | ${median(ratios).toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)}) |`,
  )
}

console.log('\n| what grows | size | cost of a warm request, against the smallest |\n|---|---|---|')
await grow('routes', [10, 100, 1_000, 10_000], async (size) => {
  const app = await guarded({}, size)
  return { size, app, requests: [await requestAs(['acme'], 0)] }
})
await grow('known tenants', [10, 1_000, 100_000], async (size) => {
  const tenants = ['acme', ...Array.from({ length: size - 1 }, (_, i) => `tenant-${i}`)]
  return { size, app: await guarded({ tenants }, 1), requests: [await requestAs(['acme'], 0)] }
})
await grow(
  'tenants in one token (short names: a token over 4 KiB is not kept)',
  [1, 10, 100, 1_000],
  async (size) => {
    const names = ['acme', ...Array.from({ length: size - 1 }, (_, i) => `t${i}`)]
    const app = await guarded({ maxTokenLength: 100_000 }, 1)
    return { size, app, requests: [await requestAs(names, 0)] }
  },
)
await grow('issuers', [1, 10, 100, 1_000], async (size) => {
  const issuers = Array.from({ length: size }, (_, i) => {
    const rules = authority.issuerRules({ tenants: '*' })
    return i === 0 ? rules : { ...rules, issuer: `https://issuer-${i}.test` }
  })
  return { size, app: await guardedBy({ issuers }, 1), requests: [await requestAs(['acme'], 0)] }
})
await grow('cached tokens', [100, 1_000, 10_000, 100_000], async (size) => {
  const app = await guarded({ tokenCacheSize: size }, 1)
  const requests = await Promise.all(Array.from({ length: size }, (_, i) => requestAs(['acme'], i)))
  const before = await heapUsed()
  for (const [i, { url, headers }] of requests.entries()) {
    if (i % 1_000 === 0) await setTimeout(0)
    // A copy of its own, as from a socket. So the cache's share of the text is counted.
    const authorization = Buffer.from(headers.authorization).toString()
    await app.inject({ url, headers: { authorization } })
  }
  const each = ((await heapUsed()) - before) / size
  const length = requests[0]?.headers.authorization.length ?? 0
  // With fewer, the heap's own growth is larger than theirs.
  if (size >= 1_000) {
    console.error(`${size} cached tokens of ${length} characters: ${Math.round(each)} bytes each`)
  }
  return { size, app, requests }
})
await grow('entries of a deny list', [1, 10, 100, 1_000, 10_000, 100_000], async (size) => {
  const before = await heapUsed()
  const isRevoked = await filledList(size)
  const each = ((await heapUsed()) - before) / size
  if (size >= 1_000) console.error(`${size} entries of a deny list: ${Math.round(each)} bytes each`)
  const app = await guarded({ isRevoked }, 1)
  const requests = await Promise.all(
    Array.from({ length: 1_000 }, (_, i) => requestAs(['acme'], i)),
  )
  return { size, app, requests }
})
await compareLookUps(ROUNDS)

async function grow(
  what: string,
  sizes: readonly number[],
  build: (size: number) => Promise<Size>,
): Promise<void> {
  const built: Size[] = []
  for (const size of sizes) built.push(await build(size))
  for (const one of built) await cost(one)
  const costs = new Map<number, number[]>(sizes.map((size) => [size, []]))
  for (let round = 0; round < ROUNDS; round++) {
    // Back and forth, so that no size always runs after the same one.
    const order = round % 2 === 0 ? built : [...built].reverse()
    for (const one of order) costs.get(one.size)?.push(await cost(one))
  }
  const [smallest = []] = costs.values()
  for (const [size, values] of costs) {
    const ratio = median(values.map((value, i) => value / (smallest[i] ?? Number.NaN)))
    console.log(`| ${what} | ${size} | ${ratio.toFixed(2)} |`)
  }
  for (const { app } of built) await app.close()
}

/** CPU seconds of one request. */
async function cost({ app, requests }: Size): Promise<number> {
  const step = 7_919
  const before = process.cpuUsage()
  for (let i = 0; i < REQUESTS; i++) {
    const request = requests[(i * step) % requests.length]
    if (request === undefined) throw new Error('no request')
    const { statusCode } = await app.inject(request)
    if (statusCode !== 200) throw new Error(`answered with ${statusCode}`)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / REQUESTS
}

function guarded(options: object, routes: number): Promise<FastifyInstance> {
  return guardedBy({ ...authority.options, ...options }, routes)
}

async function guardedBy(options: AuthOptions, routes: number): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(tenantAuth, options)
  app.get('/:tenant/menu', { config }, async () => ({ ok: true }))
  for (let i = 1; i < routes; i++) app.get(`/:tenant/r${i}`, { config }, async () => ({ ok: true }))
  await app.ready()
  return app
}

async function requestAs(tenants: readonly string[], serial: number) {
  const headers = await tokenHeaders(authority, tenants, serial)
  return { url: '/acme/menu', headers }
}

function tokenHeaders(from: TestAuthority, tenants: readonly string[], serial: number) {
  const userInfo = {
    sub: `user-${serial}`,
    preferred_username: `user-${serial}`,
    // About 700 characters, as real tokens have.
    jti: randomBytes(64).toString('hex'),
    resources: {
      ...Object.fromEntries(tenants.map((name) => [name, []])),
      acme: ['menu:read', 'order:read'],
      '*': ['profile:read'],
    },
  }
  return from.headers(userInfo, { expiresIn: 86_400 })
}

async function bootTime(boot: Boot): Promise<number> {
  const child = fork(fileURLToPath(new URL('./boot.ts', import.meta.url)))
  child.send(boot)
  const [[seconds]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  return Number(seconds)
}

async function heapUsed(): Promise<number> {
  // Work that a request leaves for the next turn of the event loop is not a cost of the cache.
  await setTimeout(100)
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
