import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthService, errors } from '../../lib/index.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { until } from '../helpers/processes/until.ts'
import { askedServer } from '../helpers/servers/asked-server.ts'
import { freshToken, startKeyOutage, unknownKeyToken } from '../helpers/servers/key-outage.ts'
import { forgeKey } from '../helpers/tokens/forge.ts'
import { KEY } from '../helpers/tokens/probe.ts'

const next = forgeKey('ES256', 'next')

test('refreshKeys fetches at once, even within the cooldown', async (t) => {
  const probe = await startKeyOutage(t)
  await probe.ask(unknownKeyToken())
  const { fetches } = probe.server
  for (let i = 1; i <= 3; i++) {
    await probe.service.refreshKeys()
    assert.equal(probe.server.fetches, fetches + i)
  }
})

test('refreshKeys fetches at once, even within the wait after a failure', async (t) => {
  const options = { keysRetry: 30 }
  const probe = await startKeyOutage(t, options, (server) => server.fail('status 500'))
  assert.equal((await probe.ask(freshToken())).statusCode, 503)
  await probe.server.fail(null)
  await probe.service.refreshKeys()
  assert.equal((await probe.ask(freshToken())).statusCode, 200)
})

test('refreshKeys fetches the keys of each static issuer, or those of the one that is named', async (t) => {
  const answer = JSON.stringify({ keys: [KEY.publicJwk] })
  const servers = await Promise.all([0, 1].map(() => askedServer((_, own) => own.end(answer))))
  const issuers = servers.map(({ url: publicKeysUrl }, at) => {
    return { issuer: `https://${at}.test`, audience: 'lunch', tenants: '*', publicKeysUrl } as const
  })
  const service = new AuthService({ issuers })
  await service.install(bareApp(t))
  const counts = () => servers.map(({ count }) => count)
  await service.refreshKeys()
  assert.deepEqual(counts(), [2, 2])
  await service.refreshKeys('https://1.test')
  assert.deepEqual(counts(), [2, 3])
})

test('what refreshKeys brings was fetched after it was called', async (t) => {
  const probe = await startKeyOutage(t)
  await until(() => probe.server.fetches === 1)
  probe.publish(next.publicJwk)
  await Promise.all([probe.service.refreshKeys(), probe.service.refreshKeys()])
  assert.ok(probe.server.fetches <= 3, `${probe.server.fetches} fetches`)
  assert.equal(probe.server.mostAtOnce, 1)
  assert.equal((await probe.ask(freshToken())).statusCode, 401)
})

test('refreshKeys starts after a fetch that hangs has ended', async (t) => {
  const options = { keysTimeout: 0.2 }
  const probe = await startKeyOutage(t, options, (server) => server.fail('no answer'))
  await until(() => probe.server.fetches === 1)
  const refreshed = probe.service.refreshKeys()
  await probe.server.fail(null)
  await refreshed
  assert.equal(probe.server.fetches, 2)
  assert.equal(probe.service.isReady(), true)
})

test('refreshKeys rejects with ERR_AUTH_KEYS_UNAVAILABLE, and the old keys serve on', async (t) => {
  const probe = await startKeyOutage(t)
  assert.equal((await probe.ask(freshToken())).statusCode, 200)
  await probe.server.fail('status 500')
  await assert.rejects(probe.service.refreshKeys(), (error) => {
    assert.ok(error instanceof errors.ERR_AUTH_KEYS_UNAVAILABLE, `${error}`)
    assert.equal(error.statusCode, 503)
    assert.equal(typeof error.retryAfter, 'number')
    return true
  })
  assert.equal((await probe.ask(freshToken())).statusCode, 200)
})

test('refreshKeys rejects if the application closes while it waits', async (t) => {
  const options = { keysTimeout: 60 }
  const probe = await startKeyOutage(t, options, (server) => server.fail('no answer'))
  await until(() => probe.server.fetches === 1)
  const rejects = assert.rejects(
    Promise.all([probe.service.refreshKeys(), probe.service.refreshKeys()]),
    { code: 'ERR_AUTH_KEYS_UNAVAILABLE' },
  )
  await probe.app.close()
  await rejects
  assert.equal(probe.server.fetches, 1)
})

test('with keys given in code, refreshKeys has nothing to do', async () => {
  const service = new AuthService({ publicKeys: { keys: [KEY.publicJwk] }, issuer: 'a' })
  await service.refreshKeys()
  assert.equal(service.isReady(), true)
  service.close()
})

test('unusable keys given in code stop the boot', async () => {
  const { x: _, ...jwk } = { ...KEY.publicJwk, x: '' }
  for (const bad of [jwk, { ...jwk, x: 'AA' }, { ...KEY.publicJwk, x: 'A'.repeat(43) }]) {
    assert.throws(() => new AuthService({ publicKeys: { keys: [bad] }, issuer: 'a' }), {
      code: 'ERR_AUTH_CONFIG_INVALID',
    })
  }
})
