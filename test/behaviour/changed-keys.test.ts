import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthService } from '../../lib/index.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { assertNoLogout, logoutApp, logoutToken } from '../helpers/app/logout-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { until } from '../helpers/processes/until.ts'
import { KeyServer } from '../helpers/servers/key-server.ts'
import { forge, forgeKey } from '../helpers/tokens/forge.ts'

const first = forgeKey('ES256', 'first')
const second = forgeKey('ES256', 'second')
const replaced = forgeKey('ES256', 'first')
const other = forgeKey('EdDSA', 'other')
const many = Array.from({ length: 25 }, (_, i) => forgeKey('ES256', `key-${i}`).publicJwk)
const { kid: _, ...nameless } = forgeKey('ES256', 'none').publicJwk

const AGE = { age: 0, reason: null }

/** Sets that follow each other, and what the event says of the change. */
const CHANGES: readonly [what: string, keys: readonly object[], change: object | undefined][] = [
  ['the same keys', [first.publicJwk], undefined],
  ['one more', [first.publicJwk, second.publicJwk], { added: ['second'], removed: [] }],
  ['another', [second.publicJwk], { added: ['second'], removed: ['first'] }],
  ['another of its name', [replaced.publicJwk], { added: ['first'], removed: ['first'] }],
  ['one without a name', [first.publicJwk, nameless], { added: [], removed: [] }],
  [
    'many',
    many,
    {
      added: many
        .map(({ kid }) => kid)
        .sort()
        .slice(0, 20),
      removed: ['first'],
    },
  ],
]

for (const [what, keys, change] of CHANGES) {
  test(`keys that came and went are listed by their names: ${what}`, async (t) => {
    const events = heard(t, 'document')
    let served: readonly object[] = [first.publicJwk]
    const server = await KeyServer.start(() => ({ keys: served }))
    t.after(() => server.close())
    const service = new AuthService({ publicKeysUrl: server.url })
    t.after(() => service.close())
    await service.install(bareApp(t))
    await until(() => service.isReady())
    served = keys
    await service.refreshKeys()
    const changed = events.filter(({ event }) => event === 'changed')
    const name = events[0]?.name
    assert.deepEqual(
      changed,
      change === undefined ? [] : [{ kind: 'keys', name, event: 'changed', ...AGE, ...change }],
    )
    assert.equal(changed.every(Object.isFrozen), true)
  })
}

test('after the keys were gone, the last ones that were known count', async (t) => {
  const events = heard(t, 'document')
  let served: readonly object[] = [first.publicJwk]
  const server = await KeyServer.start(() => ({ keys: served }))
  t.after(() => server.close())
  const service = new AuthService({ publicKeysUrl: server.url, keysMaxAge: 0, keysMaxStale: 0 })
  t.after(() => service.close())
  await service.install(bareApp(t))
  await until(() => events.length > 0)
  await server.fail('refused')
  await assert.rejects(service.refreshKeys())
  served = [second.publicJwk]
  await server.fail(null)
  await service.refreshKeys()
  const changed = events.filter(({ event }) => event === 'changed')
  const found = changed.map(({ added, removed }) => [added, removed])
  assert.deepEqual(found, [[['second'], ['first']]])
})

test('a token that names a key that no set has is counted, and no other refusal is', async (t) => {
  const service = new AuthService({ publicKeys: { keys: [first.publicJwk] } })
  const app = bareApp(t)
  await service.install(app)
  app.get('/', async () => 'ok')
  const payload = { sub: 'u', exp: Math.floor(Date.now() / 1000) + 60 }
  const ask = async (token: string) =>
    outcome(await app.inject({ url: '/', headers: { authorization: `Bearer ${token}` } }))
  const refused = '401 ERR_AUTH_TOKEN_INVALID'
  for (const [token, expected, count] of [
    [forge(first, { payload }), '200', 0],
    [forge(second, { payload }), refused, 1],
    [forge(second, { payload }), refused, 2],
    [forge(replaced, { payload }), refused, 2],
    [forge(second, { payload, header: { kid: undefined } }), refused, 2],
    [forge(other, { payload, header: { kid: undefined } }), refused, 2],
    ['no-token', refused, 2],
  ] as const) {
    assert.equal(await ask(token), expected)
    assert.deepEqual(service.stats().keys, { unknownKid: count })
  }
})

test('a logout token that names such a key is counted too', async (t) => {
  const { app, logOut } = await logoutApp(t)
  assertNoLogout(await logOut(logoutToken({}, { kid: 'other' })), 'another key')
  assert.deepEqual(app.authService.stats().keys, { unknownKid: 1 })
})
