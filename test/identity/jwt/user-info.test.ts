import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthError } from '../../../lib/errors.ts'
import { readUserInfo } from '../../../lib/identity/jwt/user-info.ts'
import { forge } from '../../helpers/tokens/forge.ts'
import {
  assertTokenRefused,
  goodClaims,
  goodToken,
  KEY,
  startProbe,
} from '../../helpers/tokens/probe.ts'

const USER = {
  sub: 'alice',
  preferred_username: 'Alice',
  resources: { acme: ['menu:read'], empty: [], '*': ['note:read'] },
  groups: [{ id: 1 }, { id: 2 }],
}

test('user info is the claims themselves, deeply frozen', () => {
  const user = readUserInfo(structuredClone(USER))
  assert.deepEqual(user, USER)
  const seen: unknown[] = [user]
  for (const value of seen) {
    if (typeof value !== 'object' || value === null) continue
    assert.equal(Object.isFrozen(value), true)
    seen.push(...Object.values(value))
  }
  assert.equal(seen.length, 14)
})

const ACCEPTED: [what: string, json: string][] = [
  ['only a sub', '{"sub":"a"}'],
  ['empty resources', '{"sub":"a","resources":{}}'],
  ['a tenant without rights', '{"sub":"a","resources":{"acme":[]}}'],
  ['a resource id that no route can require', '{"sub":"a","resources":{"acme":["", "x"]}}'],
  ['a tenant whose name is __proto__', '{"sub":"a","resources":{"__proto__":["x:y"]}}'],
  ['null among them', '{"sub":"a","x":null,"y":[null]}'],
  ['64 levels', `{"sub":"a","x":${'['.repeat(64)}1${']'.repeat(64)}}`],
]

for (const [what, json] of ACCEPTED) {
  test(`claims with ${what} are user info`, () => {
    assert.deepEqual(readUserInfo(JSON.parse(json)), JSON.parse(json))
  })
}

/** JSON of `sub`, `preferred_username` and `resources` that does not make a user. */
const MALFORMED: [what: string, members: string][] = [
  ...['""', 'null', '1', 'true', '["alice"]', '{"0":"alice"}'].map((sub): [string, string] => [
    `sub ${sub}`,
    `"sub":${sub}`,
  ]),
  ...['null', '1', 'true', '["Alice"]', '{}'].map((name): [string, string] => [
    `preferred_username ${name}`,
    `"preferred_username":${name}`,
  ]),
  ...[
    'null',
    'true',
    '1',
    '"acme"',
    '"authz:superuser"',
    '[]',
    '["acme"]',
    '[["acme",["menu:read"]]]',
    '{"acme":null}',
    '{"acme":true}',
    '{"acme":"menu:read"}',
    '{"acme":{"0":"menu:read"}}',
    '{"acme":{"menu:read":true}}',
    '{"acme":[1]}',
    '{"acme":[null]}',
    '{"acme":[["menu:read"]]}',
    '{"acme":["menu:read",{}]}',
    '{"acme":["menu:read"],"*":"note:read"}',
    '{"acme":["menu:read"],"__proto__":"note:read"}',
    '{"*":[true]}',
  ].map((resources): [string, string] => [`resources ${resources}`, `"resources":${resources}`]),
]

test('members under __proto__, and inherited ones, are not the user’s', () => {
  assert.throws(() => readUserInfo(JSON.parse('{"__proto__":{"sub":"alice"}}')), AuthError)
  assert.throws(() => readUserInfo(Object.create({ sub: 'alice' })), AuthError)
})

test('more than 64 levels are refused, even thousands', () => {
  for (const levels of [65, 7000, 100_000]) {
    const deep: unknown = JSON.parse('['.repeat(levels) + ']'.repeat(levels))
    assert.throws(() => readUserInfo({ sub: 'alice', deep }), {
      reason: 'the claims are nested too deeply',
    })
    const objects: unknown = JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)
    assert.throws(() => readUserInfo({ sub: 'alice', objects }), AuthError)
  }
})

test('the whole application refuses a malformed user, even if the token is well signed', async (t) => {
  const probe = await startProbe(t, { superuserResource: 'authz:superuser' })
  const good = JSON.stringify(goodClaims()).slice(0, -1)
  for (const [what, members] of MALFORMED) {
    // The last of two members wins, so the good one stands first.
    const token = forge(KEY, { payload: `${good},${members}}` })
    for (const url of ['/me', '/t/acme', '/query?tenant=acme']) {
      assertTokenRefused(await probe.ask(token, url), `${what} at ${url}`)
    }
  }
  assert.equal(probe.handled.count, 0)
})

test('7 000 levels fit into a token and are refused', async (t) => {
  const probe = await startProbe(t, { maxTokenLength: 100_000 })
  const good = JSON.stringify(goodClaims()).slice(0, -1)
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const deep = `${open.repeat(7000)}1${close.repeat(7000)}`
    assertTokenRefused(await probe.ask(forge(KEY, { payload: `${good},"x":${deep}}` })), open)
    const token = forge(KEY, { payload: `${good},"resources":${deep}}` })
    assertTokenRefused(await probe.ask(token, '/t/acme'), open)
  }
})

const SUPERUSER = 'authz:superuser'

/** Users who look like a superuser and are not. */
const LOOK_ALIKES: object[] = [
  { acme: [SUPERUSER] },
  { acme: ['menu:write'], '*': ['authz:superuser-ro'] },
  { '*': ['authz:superuse'] },
  { '*': ['AUTHZ:SUPERUSER'] },
  { '*': ['authz:superuser '] },
  { '*': ['authz:superuser\u0000'] },
  { '*': ['auth\u0437:superuser'] },
  { ' *': [SUPERUSER] },
  { '**': [SUPERUSER] },
  JSON.parse(`{"__proto__":["${SUPERUSER}"]}`),
  JSON.parse(`{"__proto__":{"*":["${SUPERUSER}"]}}`),
]

test('only a user who holds the superuser resource under * is a superuser', async (t) => {
  const probe = await startProbe(t, { superuserResource: SUPERUSER, tenants: ['acme', 'globex'] })
  for (const resources of LOOK_ALIKES) {
    const token = goodToken({ resources })
    assert.notEqual(
      (await probe.ask(token, '/t/globex')).statusCode,
      200,
      JSON.stringify(resources),
    )
    assert.notEqual((await probe.ask(token, '/needs')).statusCode, 200, JSON.stringify(resources))
  }
  assert.equal(probe.handled.count, 0)
  const token = goodToken({ resources: { '*': [SUPERUSER] } })
  assert.equal((await probe.ask(token, '/t/globex')).statusCode, 200)
  assert.equal((await probe.ask(token, '/needs')).statusCode, 200)
})
