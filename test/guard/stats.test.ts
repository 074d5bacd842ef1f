import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AuthOptions, AuthService } from '../../lib/index.ts'
import { as, bareApp, trusting } from '../helpers/app/guarded-app.ts'
import { until } from '../helpers/processes/until.ts'

async function installed(t: TestContext, service: AuthService) {
  const app = bareApp(t)
  await service.install(app)
  app.get('/x', async () => 'x')
  app.get('/:tenant/x', async () => 'x')
  app.get('/open', { config: { noauth: true } }, async () => 'x')
  return app
}

const serviceOf = (options: AuthOptions = {}) => new AuthService(trusting(options))

test('decisions are counted over all applications of a service, refusals by their code', async (t) => {
  const service = serviceOf()
  assert.deepEqual(service.stats().decisions, { admitted: 0, refused: {} })
  const apps = [await installed(t, service), await installed(t, service)]
  const headers = await as()
  for (const app of apps) {
    for (const url of ['/x', '/ghost/x', '/open', '/none/of/these']) {
      await app.inject({ url, headers })
    }
    await app.inject('/x')
  }
  assert.deepEqual(service.stats().decisions, {
    admitted: 2,
    refused: { ERR_AUTH_TENANT_FORBIDDEN: 2, ERR_AUTH_TOKEN_MISSING: 2 },
  })
  assert.deepEqual(serviceOf().stats().decisions, { admitted: 0, refused: {} })
})

test('a code that did not occur is no property, whatever stands on Object.prototype', async (t) => {
  Object.defineProperty(Object.prototype, 'ERR_AUTH_TOKEN_MISSING', {
    value: 7,
    configurable: true,
  })
  t.after(() => Reflect.deleteProperty(Object.prototype, 'ERR_AUTH_TOKEN_MISSING'))
  const service = serviceOf()
  assert.deepEqual(Object.keys(service.stats().decisions.refused), [])
  const app = await installed(t, service)
  await app.inject('/x')
  assert.deepEqual(Object.entries(service.stats().decisions.refused), [
    ['ERR_AUTH_TOKEN_MISSING', 1],
  ])
})

test('the token cache reports its size, hits, misses and evictions', async (t) => {
  const service = serviceOf({ tokenCacheSize: 2 })
  const app = await installed(t, service)
  const ask = async (sub: string) =>
    app.inject({ url: '/x', headers: (await users.get(sub)) ?? {} })
  const users = new Map<string, ReturnType<typeof as>>()
  for (const sub of ['a', 'b', 'c']) users.set(sub, as({}, { sub }))
  for (const sub of ['a', 'a', 'a', 'b']) await ask(sub)
  assert.deepEqual(service.stats().tokenCache, { size: 2, hits: 2, misses: 2, evictions: 0 })
  await ask('c')
  assert.deepEqual(service.stats().tokenCache, { size: 2, hits: 2, misses: 3, evictions: 1 })
  await app.inject({ url: '/x', headers: { authorization: 'Bearer no-token' } })
  await app.inject('/x')
  assert.deepEqual(service.stats().tokenCache, { size: 2, hits: 2, misses: 4, evictions: 1 })
})

test('a token that is no JWT counts once, as a hit from the second request on', async (t) => {
  const claims = { sub: 'a', iss: trusting().issuer, aud: trusting().audience }
  const service = serviceOf({ opaqueToken: () => claims })
  const app = await installed(t, service)
  const headers = { authorization: 'Bearer opaque' }
  for (const _ of [1, 2, 3]) await app.inject({ url: '/x', headers })
  const { hits, misses } = service.stats().tokenCache
  assert.deepEqual([hits, misses], [2, 1])
})

test('dev mode counts decisions, and has no cache', async (t) => {
  const service = new AuthService({ devMode: true })
  const app = await installed(t, service)
  await app.inject('/x')
  const { decisions, tokenCache } = service.stats()
  assert.deepEqual(decisions, { admitted: 1, refused: {} })
  assert.deepEqual(tokenCache, { size: 0, hits: 0, misses: 0, evictions: 0 })
})

test('what is given is a copy: changing it changes nothing, and later requests do not change it', async (t) => {
  for (const service of [serviceOf(), new AuthService({ devMode: true })]) {
    const app = await installed(t, service)
    const before = service.stats()
    await app.inject('/x')
    Object.assign(before.tokenCache, { hits: 99 })
    Object.assign(before.decisions.refused, { ERR_AUTH_TOKEN_MISSING: 99 })
    const { decisions, tokenCache } = service.stats()
    assert.notEqual(decisions.admitted + (decisions.refused['ERR_AUTH_TOKEN_MISSING'] ?? 0), 99)
    assert.equal(tokenCache.hits, 0)
    assert.equal(before.decisions.admitted, 0)
  }
})

test('all of it is JSON: plain numbers, texts and null', async (t) => {
  const service = serviceOf()
  await installed(t, service)
  await until(() => service.isReady())
  const stats = service.stats()
  assert.deepEqual(JSON.parse(JSON.stringify(stats)), stats)
})
