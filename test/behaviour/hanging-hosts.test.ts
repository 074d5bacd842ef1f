import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { until } from '../helpers/processes/until.ts'
import { portOf } from '../helpers/servers/asked-server.ts'
import { encode } from '../helpers/tokens/forge.ts'

// Fetches of keys share 32 places. Hosts that hang must not keep the others from theirs.

const authority = await createTestAuthority({ issuer: 'https://own.test', audience: 'lunch' })

/**
 * A server that is many hosts: 127.0.0.1, 127.0.1.1, 127.0.1.2 and so on, of one port. It answers a
 * path by what the test says, and counts what is under way for each host.
 */
async function hosts(t: TestContext, answer: (response: ServerResponse, host: string) => void) {
  const open = new Map<string, number>()
  const most = new Map<string, number>()
  let asked = 0
  let openNow = 0
  let mostAtOnce = 0
  const server = createServer((request, response) => {
    const host = String(request.headers.host).split(':')[0] ?? ''
    asked += 1
    openNow += 1
    open.set(host, (open.get(host) ?? 0) + 1)
    most.set(host, Math.max(most.get(host) ?? 0, open.get(host) ?? 0))
    mostAtOnce = Math.max(mostAtOnce, openNow)
    response.once('close', () => {
      openNow -= 1
      open.set(host, (open.get(host) ?? 0) - 1)
    })
    answer(response, host)
  })
  const port = await portOf(server, '0.0.0.0')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    at: (host: string, path = '/keys') => `http://${host}:${port}${path}`,
    most: (host: string) => most.get(host) ?? 0,
    mostAtOnce: () => mostAtOnce,
    asked: () => asked,
  }
}

const publish = (response: ServerResponse) =>
  void response.end(JSON.stringify(authority.publicKeys))
const hang = () => {}

async function guarded(t: TestContext, options: AuthOptions) {
  const app = bareApp(t)
  await app.register(tenantAuth, { audience: 'lunch', keysRetry: 30, ...options })
  app.get('/me', async () => 'ok')
  await app.ready()
  return app
}

/** Realms of customers. */
const realms = (count: number, publicKeysUrl: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => ({
    issuer: `https://customer.test/${i}`,
    tenants: ['acme'],
    publicKeysUrl: publicKeysUrl(i),
  }))

/** A token that anybody can write. */
const invented = (iss: string) => {
  const claims = { iss, aud: 'lunch', exp: 2 ** 33, sub: 'eve' }
  const parts = [{ alg: 'ES256', kid: 'a' }, claims].map(encode)
  return { authorization: `Bearer ${parts.join('.')}.${Buffer.alloc(64, 1).toString('base64url')}` }
}

/** Requests with tokens of so many customers, each of whose keys is asked for, or waits for it. */
async function ask(app: FastifyInstance, count: number): Promise<void> {
  const { length } = app.authService.stats().documents
  for (let i = 0; i < count; i++) {
    void app.inject({ url: '/me', headers: invented(`https://customer.test/${i}`) })
    await until(() => app.authService.stats().documents.length === length + i + 1)
  }
}

/** Else the others may have had their turn only when those that hang were given up. */
function assertHanging(app: FastifyInstance): void {
  const failures = app.authService.stats().documents.map(({ failure }) => failure)
  assert.deepEqual([...new Set(failures)], [null])
}

const LISTS: readonly (readonly [what: string, hosts: number, realms: number])[] = [
  ['one host that hangs', 1, 80],
  ['two hosts that hang', 2, 160],
  ['forty hosts that hang', 40, 80],
]

for (const [what, count, amount] of LISTS) {
  test(`listed realms on ${what} do not hold up the operator's own issuer`, async (t) => {
    const hanging = await hosts(t, hang)
    const good = await hosts(t, publish)
    const { issuer } = authority
    const app = await guarded(t, {
      keysTimeout: 60,
      issuers: [
        ...realms(amount, (i) => hanging.at(`127.0.1.${i % count}`)),
        { issuer, tenants: '*', publicKeysUrl: good.at('127.0.0.1') },
      ],
    })
    const headers = await authority.headers()
    assert.equal((await app.inject({ url: '/me', headers })).statusCode, 200)
    assertHanging(app)
    assert.ok(hanging.mostAtOnce() <= 31, `${hanging.mostAtOnce()}`)
    for (let i = 0; i < count; i++) {
      const most = hanging.most(`127.0.1.${i}`)
      assert.ok(most <= 16, `${most} of one host`)
    }
  })
}

for (const [what, count, amount] of LISTS.slice(0, 2)) {
  test(`customers by a function on ${what} hold up no other new customer`, async (t) => {
    const hanging = await hosts(t, hang)
    const good = await hosts(t, publish)
    const app = await guarded(t, {
      keysTimeout: 60,
      allowPrivateIssuers: true,
      issuers: (iss) => {
        const url =
          iss === authority.issuer
            ? good.at('127.0.0.1')
            : hanging.at(`127.0.1.${Number(iss.split('/').at(-1)) % count}`)
        return { tenants: ['acme'], publicKeysUrl: url }
      },
    })
    await ask(app, amount)
    const headers = await authority.headers()
    assert.equal((await app.inject({ url: '/me', headers })).statusCode, 200)
    assertHanging(app)
  })
}

test('a customer whose keys came before goes before forty new hosts that hang', async (t) => {
  const hanging = await hosts(t, hang)
  const good = await hosts(t, publish)
  const app = await guarded(t, {
    keysTimeout: 60,
    keysCooldown: 0,
    allowPrivateIssuers: true,
    issuers: (iss) => {
      const i = Number(iss.split('/').at(-1))
      const url = iss === authority.issuer ? good.at('127.0.0.1') : hanging.at(`127.0.1.${i}`)
      return { tenants: ['acme'], publicKeysUrl: url }
    },
  })
  const headers = await authority.headers()
  assert.equal((await app.inject({ url: '/me', headers })).statusCode, 200)
  await ask(app, 40)
  await until(() => hanging.asked() >= 24)
  await app.authService.refreshKeys(authority.issuer)
  assert.equal(good.asked(), 2)
  assertHanging(app)
})

test('the time limit of a fetch begins with its place, so a slow host answers all its realms', async (t) => {
  const waiting: ServerResponse[] = []
  const slow = await hosts(t, (response) => waiting.push(response))
  const issuers = realms(48, () => slow.at('127.0.1.1'))
  const app = await guarded(t, { keysTimeout: 2, issuers })
  const answer = setInterval(() => {
    for (const response of waiting.splice(0)) publish(response)
  }, 800)
  t.after(() => clearInterval(answer))
  const states = () => app.authService.stats().documents
  await until(() => states().every(({ state, failure }) => state === 'fresh' || failure !== null))
  const found = states().map(({ failure }) => failure)
  assert.deepEqual(
    found,
    states().map(() => null),
  )
  assert.equal(slow.most('127.0.1.1'), 16)
})

test('keys that many hosts say are at one other host take 16 places there', async (t) => {
  const hanging = await hosts(t, hang)
  const metadata = await hosts(t, (response, host) => {
    const { port } = new URL(metadata.at(host))
    const issuer = `http://${host}:${port}`
    response.end(JSON.stringify({ issuer, jwks_uri: hanging.at('127.0.0.1') }))
  })
  const issuers = Array.from({ length: 60 }, (_, i) => ({
    issuer: metadata.at(`127.0.1.${i}`, ''),
    tenants: ['acme'],
  }))
  await guarded(t, { keysTimeout: 60, issuers })
  await until(() => metadata.asked() === 60)
  assert.equal(hanging.mostAtOnce() <= 16, true, `${hanging.mostAtOnce()} at once`)
})

test('a host that has hung gets two places until it answers, and then its part again', async (t) => {
  let isHanging = true
  const waiting: ServerResponse[] = []
  const host = await hosts(t, (response) => {
    if (isHanging) waiting.push(response)
    else publish(response)
  })
  const issuers = realms(40, () => host.at('127.0.1.1'))
  const app = await guarded(t, { keysTimeout: 0.5, keysRetry: 0.05, keysCooldown: 0.05, issuers })
  await until(() => host.asked() > 18)
  const open = () => waiting.filter((response) => !response.closed).length
  assert.ok(open() <= 2, `${open()} at once`)
  isHanging = false
  const states = () => app.authService.stats().documents.map(({ state }) => state)
  await until(() => states().every((state) => state === 'fresh'))
})
