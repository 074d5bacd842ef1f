import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { introspection } from '../../../lib/entrypoints/introspection/index.ts'
import { answeredClaims } from '../../../lib/entrypoints/introspection/introspection.ts'
import { openLifecycle } from '../../helpers/app/open-lifecycle.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'
import { until } from '../../helpers/processes/until.ts'
import {
  BASIC,
  CLIENT,
  type IntrospectionServer,
  introspectionServer,
  json,
} from '../../helpers/servers/introspection-server.ts'

const ISSUER = 'https://login.example.com'

const claims = (answer: object) => answeredClaims(answer, ISSUER)

test('an active token gives what is said of it, without `active`', () => {
  const said = { sub: 'alice', aud: ['lunch'], scope: 'menu', iss: ISSUER, token_type: 'Bearer' }
  assert.deepEqual(claims({ active: true, ...said }), said)
})

test('an absent issuer is filled in, and the answer is left as it is', () => {
  const answer = Object.freeze({ active: true, sub: 'alice' })
  assert.deepEqual(claims(answer), { sub: 'alice', iss: ISSUER })
})

/** Answers whose token is not accepted. */
const REFUSED: readonly object[] = [
  { active: false },
  { active: false, sub: 'alice', iss: ISSUER },
  { active: true, sub: 'alice', iss: `${ISSUER}/` },
  { active: true, sub: 'alice', iss: 'https://other.example.com' },
  { active: true, sub: 'alice', iss: null },
  { active: true, sub: 'alice', iss: '' },
  { active: true, sub: 'alice', iss: [ISSUER] },
  { active: true, sub: 'alice', token_type: 'DPoP' },
  { active: true, sub: 'alice', token_type: 'DPoP', cnf: {} },
  { active: true, sub: 'alice', token_type: 'DPoP', cnf: { jkt: 5 } },
  { active: true, sub: 'alice', token_type: 'DPoP', cnf: ['jkt'] },
  { active: true, sub: 'alice', token_type: 'N_A' },
  { active: true, sub: 'alice', token_type: 'refresh_token' },
  { active: true, sub: 'alice', token_type: null },
  { active: true, sub: 'alice', token_type: ['Bearer'] },
  { active: true, sub: 'alice', token_type: '' },
  { active: true, sub: 'alice', typ: 'Refresh' },
  { active: true, sub: 'alice', typ: 'Offline' },
  { active: true, sub: 'alice', typ: 'ID' },
  { active: true, sub: 'alice', typ: 'logout+jwt' },
  { active: true, sub: 'alice', token_type: 'Bearer', typ: 'DPoP' },
  { active: true, sub: 'alice', typ: 'DPoP' },
  { active: true, sub: 'alice', typ: { toString: 'Bearer' } },
  { active: true, sub: 'alice', typ: 'DPoP', cnf: { 'x5t#S256': 'a' } },
  { active: true, sub: 'alice', token_type: 'Bearer', token_use: 'refresh_token' },
  { active: true, sub: 'alice', token_use: 'id' },
  { active: true, sub: 'alice', token_usage: 'refresh_token' },
]

for (const answer of REFUSED) {
  test(`null: ${JSON.stringify(answer)}`, () => {
    assert.equal(claims(answer), null)
  })
}

test('a token for DPoP is one if its key is named, which the guard asks to be proved', () => {
  const said = { sub: 'alice', iss: ISSUER, token_type: 'DPoP', cnf: { jkt: 'a' } }
  assert.deepEqual(claims({ active: true, ...said }), said)
  // As Keycloak says it.
  const marked = { ...said, typ: 'DPoP' }
  assert.deepEqual(claims({ active: true, ...marked }), marked)
})

test('the case of a type does not count', () => {
  // The last one is of early versions of Ory Hydra.
  for (const token_type of ['Bearer', 'bearer', 'BEARER', 'access_token']) {
    assert.notEqual(claims({ active: true, token_type }), null)
  }
  for (const typ of ['Bearer', 'JWT', 'at+jwt', 'application/at+JWT']) {
    assert.notEqual(claims({ active: true, typ }), null)
  }
  for (const token_use of ['access_token', 'access']) {
    assert.notEqual(claims({ active: true, token_use }), null)
    assert.notEqual(claims({ active: true, token_usage: token_use }), null)
  }
})

test('`active` is a boolean of the answer itself', (t) => {
  for (const active of [undefined, null, 'true', 1, {}]) {
    assert.throws(() => claims({ active }), { code: 'ERR_INTROSPECTION_ANSWER' })
  }
  Object.defineProperty(Object.prototype, 'active', { value: true, configurable: true })
  t.after(() => Reflect.deleteProperty(Object.prototype, 'active'))
  assert.throws(() => claims({ sub: 'alice' }), { code: 'ERR_INTROSPECTION_ANSWER' })
})

test('a claim of the name of a prototype is a claim', () => {
  const given = claims(JSON.parse('{"active":true,"__proto__":{"sub":"mallory"}}'))
  assert.deepEqual(Object.keys(given ?? {}), ['__proto__', 'iss'])
  assert.equal(Object.hasOwn(given ?? {}, 'sub') || given?.['sub'] !== undefined, false)
})

const TOKEN = 'a-real-token.1'
const ALICE = { sub: 'alice', aud: 'lunch', exp: 4_102_444_800 }

/** A function that asks a server of its own. The server knows one token. */
async function start(t: TestContext) {
  const server = await introspectionServer(t)
  server.active.set(TOKEN, ALICE)
  const ask = introspection({ issuer: server.issuer, ...CLIENT })
  const logged: string[] = []
  openLifecycle(ask, (reason) => logged.push(reason))
  return { server, ask, logged }
}

const failure = (code: string) => ({ code: `ERR_INTROSPECTION_${code}` })

const inactive = ({ asked }: IntrospectionServer, at: number) => asked.at(at)?.token !== TOKEN

test('a token that is active gives its claims, with the issuer', async (t) => {
  const { server, ask, logged } = await start(t)
  assert.deepEqual(await ask(TOKEN), { ...ALICE, iss: server.issuer })
  assert.deepEqual(logged, [])
})

test('a token that is not active gives null', async (t) => {
  const { ask } = await start(t)
  assert.equal(await ask('another-token'), null)
})

test('the endpoint is asked for an access token, as JSON, with the credentials in the header', async (t) => {
  const { server, ask } = await start(t)
  await ask(TOKEN)
  const [canary, real] = server.asked
  for (const asked of [canary, real]) {
    assert.equal(asked?.authorization, `Basic ${BASIC}`)
    assert.equal(asked?.accept, 'application/json')
    assert.equal(asked?.body.get('token_type_hint'), 'access_token')
    assert.equal(asked?.body.has('client_secret'), false)
  }
})

test('a random token is asked for before the first real one, and once', async (t) => {
  const { server, ask } = await start(t)
  await Promise.all([ask(TOKEN), ask(TOKEN)])
  await ask(TOKEN)
  assert.equal(server.asked.length, 4)
  assert.equal(inactive(server, 0), true)
  assert.equal(server.asked[0]?.token.length, 43)
  for (const each of [1, 2, 3]) assert.equal(server.asked[each]?.token, TOKEN)
})

test('each function makes a random token of its own', async (t) => {
  const { server, ask } = await start(t)
  await ask(TOKEN)
  await introspection({ issuer: server.issuer, ...CLIENT })(TOKEN)
  assert.notEqual(server.asked[0]?.token, server.asked[2]?.token)
})

test('an endpoint that calls all tokens active is sent none, and that is logged once', async (t) => {
  const { server, ask, logged } = await start(t)
  server.answer = (response) => json(response, { active: true, ...ALICE })
  const asking = [TOKEN, 'another', TOKEN].map((token) => ask(token))
  for (const each of asking) await assert.rejects(each, failure('ALL_ACTIVE'))
  await assert.rejects(ask(TOKEN), failure('ALL_ACTIVE'))
  assert.equal(server.asked.length, 1)
  assert.equal(inactive(server, 0), true)
  assert.deepEqual(logged, [
    'the endpoint calls a random token active, so that opaque tokens get 503',
  ])
})

test('an endpoint at fault is tried again after a rest that doubles, by one request at a time', async (t) => {
  holdTime(t, { apis: ['Date'] })
  const { server, ask, logged } = await start(t)
  server.answer = (response) => json(response, { active: true })
  const asks = async (count: number) => {
    const all = [ask(TOKEN), ask(TOKEN), ask(TOKEN)]
    for (const each of all) await assert.rejects(each, failure('ALL_ACTIVE'))
    assert.equal(server.asked.length, count)
  }
  await asks(1)
  t.mock.timers.tick(999)
  await asks(1)
  t.mock.timers.tick(1)
  await asks(2)
  t.mock.timers.tick(999)
  await asks(2)
  t.mock.timers.tick(1001)
  await asks(3)
  assert.equal(logged.length, 1)
})

test('an endpoint that is mended is believed after its rest, and may fail anew', async (t) => {
  holdTime(t, { apis: ['Date'] })
  const { server, ask, logged } = await start(t)
  const yes: IntrospectionServer['answer'] = (response) => json(response, { active: true })
  server.answer = yes
  await assert.rejects(ask(TOKEN), failure('ALL_ACTIVE'))
  server.answer = undefined
  t.mock.timers.tick(1000)
  assert.deepEqual(await ask(TOKEN), { ...ALICE, iss: server.issuer })
  const shown = server.asked.map(({ token }) => token === TOKEN)
  assert.deepEqual(shown, [false, false, true])
  assert.equal(logged.length, 1)

  // An hour later it is found at fault again.
  server.answer = yes
  t.mock.timers.tick(3_600_000)
  await ask(TOKEN)
  await until(() => logged.length === 2)
  await assert.rejects(ask(TOKEN), failure('ALL_ACTIVE'))
  // Its first rest is short again.
  server.answer = undefined
  t.mock.timers.tick(1000)
  assert.notEqual(await ask(TOKEN), null)
})

/** Answers that say that the credentials are refused. */
const REFUSALS: readonly [what: string, status: number, body: unknown][] = [
  ['401', 401, { error: 'invalid_client' }],
  ['401 without a body', 401, undefined],
  ['400 invalid_client', 400, { error: 'invalid_client' }],
  ['400 unauthorized_client', 400, { error: 'unauthorized_client' }],
]

for (const [what, status, body] of REFUSALS) {
  test(`credentials that are refused (${what}): no token is sent, and that is logged once`, async (t) => {
    const { server, ask, logged } = await start(t)
    server.answer = (response) => json(response, body, status)
    for (const token of [TOKEN, TOKEN, 'another']) {
      await assert.rejects(ask(token), failure('CREDENTIALS'))
    }
    const shown = server.asked.filter(({ token }) => token === TOKEN)
    assert.deepEqual(shown, [])
    assert.deepEqual(logged, [
      'the endpoint refuses the credentials of this client, so that opaque tokens get 503',
    ])
  })
}

test('credentials that are refused later: the same', async (t) => {
  const { server, ask, logged } = await start(t)
  await ask(TOKEN)
  server.answer = (response) => json(response, {}, 401)
  for (const token of [TOKEN, TOKEN, 'another']) {
    await assert.rejects(ask(token), failure('CREDENTIALS'))
  }
  assert.equal(logged.length, 1)
})

test('a token that alone is answered with 401 costs the others nothing', async (t) => {
  const { server, ask, logged } = await start(t)
  server.answer = (response, { token }) =>
    token === 'cursed'
      ? json(response, {}, 401)
      : json(response, token === TOKEN ? { active: true, ...ALICE } : { active: false })
  await ask(TOKEN)
  const cursed = ask('cursed')
  await assert.rejects(cursed, failure('CREDENTIALS'))
  assert.deepEqual(await ask(TOKEN), { ...ALICE, iss: server.issuer })
  assert.deepEqual(logged, [])
})

/** Answers that decide nothing. */
const ODD: readonly [what: string, answer: NonNullable<IntrospectionServer['answer']>][] = [
  ['500', (response) => json(response, {}, 500)],
  ['500 that blames the client', (response) => json(response, { error: 'invalid_client' }, 500)],
  ['400 of another kind', (response) => json(response, { error: 'invalid_request' }, 400)],
  ['400 that is a list', (response) => json(response, [], 400)],
  ['400 that is no JSON', (response) => response.writeHead(400).end('no')],
  ['204', (response) => response.writeHead(204).end()],
  ['a redirect', (response) => response.writeHead(307, { location: '/introspect' }).end()],
  ['no JSON', (response) => response.end('<!doctype html>')],
  ['a list', (response) => json(response, [{ active: true }])],
  ['null', (response) => json(response, null)],
  ['no active', (response) => json(response, ALICE)],
  ['active "true"', (response) => json(response, { ...ALICE, active: 'true' })],
  ['active 1', (response) => json(response, { ...ALICE, active: 1 })],
  ['active null', (response) => json(response, { ...ALICE, active: null })],
  [
    'a JWT that was not asked for',
    (response) =>
      response.writeHead(200, { 'content-type': 'application/token-introspection+jwt' }).end('e'),
  ],
]

for (const [what, answer] of ODD) {
  test(`${what}, to a random token or a real one, is no answer, and the next one counts`, async (t) => {
    const { server, ask, logged } = await start(t)
    for (const _ of ['random', 'real']) {
      server.answer = answer
      await assert.rejects(ask(TOKEN), failure('ANSWER'))
      server.answer = undefined
      assert.deepEqual(await ask(TOKEN), { ...ALICE, iss: server.issuer })
    }
    const isReal = server.asked.map(({ token }) => token === TOKEN)
    assert.deepEqual(isReal, [false, false, true, true, true], 'nothing is proved again')
    assert.deepEqual(logged, [])
  })
}

/** What hangs, breaks off, or never ends. */
const LOST: readonly [what: string, answer: NonNullable<IntrospectionServer['answer']>][] = [
  ['a reset', (response) => response.socket?.resetAndDestroy()],
  [
    'a body beyond 512 KiB',
    (response) => json(response, { active: true, pad: 'x'.repeat(512 * 1024) }),
  ],
  ['a status that is none', (response) => response.writeHead(999).end()],
]

for (const [what, answer] of LOST) {
  test(`${what} is no answer`, async (t) => {
    const { server, ask } = await start(t)
    await ask(TOKEN)
    server.answer = answer
    await assert.rejects(ask(TOKEN), failure('NO_ANSWER'))
  })
}

test('an answer of nearly 512 KiB is one', async (t) => {
  const { server, ask } = await start(t)
  await ask(TOKEN)
  server.answer = (response) => json(response, { active: false, pad: 'x'.repeat(511 * 1024) })
  assert.equal(await ask(TOKEN), null)
})

test('a redirect is not followed', async (t) => {
  const { server, ask } = await start(t)
  await ask(TOKEN)
  server.answer = (response) => response.writeHead(307, { location: '/elsewhere' }).end()
  await assert.rejects(ask(TOKEN), failure('ANSWER'))
  assert.equal(server.paths.includes('/elsewhere'), false)
})

test('the status of a refusal is reported, though its body is no JSON', async (t) => {
  const { server, ask } = await start(t)
  await ask(TOKEN)
  server.answer = (response) => response.writeHead(400).end('<html>')
  const message = 'the server gave no usable answer: answered with status 400'
  await assert.rejects(ask(TOKEN), { ...failure('ANSWER'), message })
})

test('the usual letters of credentials stay as they are: not every server decodes the header', async (t) => {
  const server = await introspectionServer(t)
  server.metadata = { introspection_endpoint_auth_methods_supported: ['client_secret_basic'] }
  const credentials = { clientId: 'menu-api.v2', clientSecret: 'Zq_7-e*.0' }
  const plain = `Basic ${btoa('menu-api.v2:Zq_7-e*.0')}`
  server.answer = (response, { authorization }) =>
    json(response, { active: false }, authorization === plain ? 200 : 401)
  assert.equal(await introspection({ issuer: server.issuer, ...credentials })(TOKEN), null)
})

test('where a secret is taken in the body only, it goes there', async (t) => {
  const { server, ask } = await start(t)
  server.metadata = { introspection_endpoint_auth_methods_supported: ['client_secret_post'] }
  await ask(TOKEN)
  assert.equal(server.asked.length, 2)
  for (const { authorization, body } of server.asked) {
    assert.equal(authorization, undefined)
    assert.equal(body.get('client_id'), CLIENT.clientId)
    assert.equal(body.get('client_secret'), CLIENT.clientSecret)
  }
})

test('what the token endpoint takes counts where the other is not named', async (t) => {
  const { server, ask } = await start(t)
  server.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] }
  await ask(TOKEN)
  assert.equal(server.asked[0]?.authorization, undefined)
})

test('where the header alone is named, the secret never goes into the body', async (t) => {
  const { server, ask } = await start(t)
  server.metadata = { introspection_endpoint_auth_methods_supported: ['client_secret_basic'] }
  server.answer = (response) => json(response, {}, 401)
  await assert.rejects(ask(TOKEN), failure('CREDENTIALS'))
  assert.equal(server.asked.length, 1)
})

test('a client of which the header is refused is tried with the body, by random tokens', async (t) => {
  const { server, ask, logged } = await start(t)
  server.answer = (response, { authorization, token }) => {
    if (authorization !== undefined) return json(response, { error: 'invalid_client' }, 401)
    json(response, token === TOKEN ? { active: true, ...ALICE } : { active: false })
  }
  await ask(TOKEN)
  await ask(TOKEN)
  assert.deepEqual(
    server.asked.map(({ authorization, token }) => [authorization === undefined, token === TOKEN]),
    [
      [false, false],
      [true, false],
      [true, true],
      [true, true],
    ],
  )
  assert.deepEqual(logged, [])
})

test('a function that no service has opened works, and logs nothing', async (t) => {
  const server = await introspectionServer(t)
  server.active.set(TOKEN, ALICE)
  const ask = introspection({ issuer: server.issuer, url: server.url, ...CLIENT })
  assert.deepEqual(await ask(TOKEN), { ...ALICE, iss: server.issuer })
  server.answer = (response) => json(response, {}, 401)
  await assert.rejects(ask(TOKEN), failure('CREDENTIALS'))
})

for (const status of [403, 429]) {
  test(`after a momentary ${status} the endpoint is left alone, longer each time, and then serves`, async (t) => {
    holdTime(t, { apis: ['Date'], now: Date.now() })
    const { server, ask, logged } = await start(t)
    await ask(TOKEN)
    server.asked.length = 0
    const good = server.answer
    for (const rest of [1, 2, 4]) {
      server.answer = (response) => json(response, {}, status)
      await Promise.all([1, 2, 3].map(() => assert.rejects(ask(TOKEN), failure('BUSY'))))
      const sent = server.asked.splice(0).filter(({ token }) => token === TOKEN)
      assert.equal(sent.length, 3, 'who asks together is one failure')
      t.mock.timers.tick(rest * 500 - 1)
      await assert.rejects(ask(TOKEN), failure('BUSY'))
      assert.equal(server.asked.length, 0)
      t.mock.timers.tick(rest * 500 + 1)
    }
    server.answer = good
    assert.deepEqual(await ask(TOKEN), { ...ALICE, iss: server.issuer })
    assert.deepEqual(logged, [], 'its credentials are good')
  })

  test(`a ${status} before the first token is a momentary one, too`, async (t) => {
    holdTime(t, { apis: ['Date'], now: Date.now() })
    const { server, ask, logged } = await start(t)
    const good = server.answer
    server.answer = (response) => json(response, {}, status)
    for (const _ of [1, 2]) await assert.rejects(ask(TOKEN), failure('BUSY'))
    assert.equal(server.asked.length, 1)
    server.answer = good
    t.mock.timers.tick(1000)
    assert.deepEqual(await ask(TOKEN), { ...ALICE, iss: server.issuer })
    assert.deepEqual(logged, [])
  })
}

test('a token that alone is answered with 403 costs the others nothing', async (t) => {
  const { server, ask, logged } = await start(t)
  server.answer = (response, { token }) =>
    token === '../../cursed'
      ? json(response, {}, 403)
      : json(response, token === TOKEN ? { active: true, ...ALICE } : { active: false })
  await ask(TOKEN)
  for (const _ of [1, 2]) await assert.rejects(ask('../../cursed'), failure('BUSY'))
  assert.deepEqual(await ask(TOKEN), { ...ALICE, iss: server.issuer })
  assert.deepEqual(logged, [])
})

test('an answer of 403 that comes while the endpoint is left alone makes no further question', async (t) => {
  holdTime(t, { apis: ['Date'], now: Date.now() })
  const { server, ask } = await start(t)
  await ask(TOKEN)
  let answerLate = () => {}
  server.answer = (response, { token }) => {
    if (token === 'late') answerLate = () => json(response, {}, 403)
    else json(response, {}, 403)
  }
  const late = assert.rejects(ask('late'), failure('BUSY'))
  await until(() => server.asked.at(-1)?.token === 'late')
  await assert.rejects(ask(TOKEN), failure('BUSY'))
  const { length } = server.asked
  answerLate()
  await late
  assert.equal(server.asked.length, length)
})
