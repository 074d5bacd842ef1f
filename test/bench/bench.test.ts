import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { programFile } from '../helpers/processes/program.ts'
import { driveOnce, type Running } from './contest.ts'
import { type DriverName, driverOfThisMachine, drivers } from './drivers.ts'
import { GUARDS } from './guards.ts'
import { importCosts } from './import-cost.ts'
import { tablesOf } from './report.ts'
import { setupFor } from './rows.ts'
import { Served } from './served.ts'
import { bearerTokens, boundTokens, PUBLIC_URL } from './tokens.ts'

test('the bench drives each kind of server, and takes no answers of another status', async (t) => {
  const authority = await createTestAuthority({ algorithm: 'EdDSA' })
  t.after(() => authority.close())
  const plugin = pathToFileURL(programFile('lib/index.ts')).href
  const plain = await setupFor(authority, { algorithm: 'EdDSA', plugin, cacheSize: 10 })
  const { proofKeyPem, ...bound } = await boundTokens(authority, 'EdDSA', '/acme/menu', 10)
  const setup = { ...plain, bound: { publicUrl: PUBLIC_URL, proofKeyPem } }
  const sent = { authorizations: await bearerTokens(authority, 3) }
  const running = await Promise.all(
    GUARDS.map(async (name) => {
      const server = await Served.start(name, setup, false)
      t.after(() => server.stop())
      const status = name === 'refuse' ? 401 : 200
      const load = { path: '/acme/menu', ...(name === 'proof' ? bound : sent), status }
      return { name, guard: name, setup, server, load }
    }),
  )
  for (const each of running) {
    const { requests, cost } = await answered(each, 'autocannon')
    assert.ok(requests > 0 && cost > 0 && cost < 1e6, `${each.name}: ${cost} µs of ${requests}`)
  }
  const [unguarded] = running
  assert.ok(unguarded, 'the unguarded server runs')
  const { requests } = await answered(unguarded, driverOfThisMachine())
  assert.ok(requests > 0, `${requests} requests`)
  const wrong = { ...unguarded, load: { ...unguarded.load, status: 401 } }
  await assert.rejects(answered(wrong, driverOfThisMachine()), /answers of 200, and each should/)
})

/** A round of 100 ms, or a longer one where a busy machine has answered nothing in it. */
async function answered(
  each: Running,
  driver: DriverName,
  seconds = 0.1,
): ReturnType<typeof driveOnce> {
  try {
    return await driveOnce(each, drivers[driver], seconds)
  } catch (error) {
    if (seconds > 10 || !/no answer/.test(String(error))) throw error
    return answered(each, driver, seconds * 5)
  }
}

test('an import is measured after what is imported already', () => {
  const costs = importCosts({ url: 'node:url', again: 'node:url' }, ['fastify-plugin'], 1)
  assert.deepEqual([...costs.keys()], ['url', 'again'])
  const all = [...costs.values()].flat()
  assert.ok(all.length > 1 && all.every((cost) => cost > 0), `${all}`)
  assert.throws(() => importCosts({ url: 'node:nothing' }, [], 1), /node:nothing was not imported/)
})

test('a table calls nothing a difference that is smaller than that of equal servers', () => {
  const costs = new Map([
    ['none', [90, 93, 97]],
    ['floor', [50, 50, 50]],
    ['this plugin', [100, 100, 100]],
    ['@fastify/jwt', [200, 200, 200]],
    ['jose', [400, 400, 400]],
    ['again', [92, 90, 104]],
  ])
  const warm = { kind: 'warm', name: 'warm', costs: new Map([['wrk', costs]] as const) } as const
  assert.deepEqual(tablesOf([warm]).split('\n').slice(2), [
    '| unguarded             | ≈ 0.93 (0.92–0.95)   |',
    '| `floor`               | 0.50 (0.50–0.50)     |',
    '| @fastify/jwt          | **2.00 (2.00–2.00)** |',
    '| jose                  | 4.00 (4.00–4.00)     |',
    '| the same server again | ≈ 0.92 (0.91–0.98)   |',
  ])
})
