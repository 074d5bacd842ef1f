import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import Fastify from 'fastify'
import { sharedSecret } from '../../lib/entrypoints/introspection/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { configError } from '../helpers/app/config-error.ts'
import { guardedApp } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { encode, forge, forgeKey, type Part } from '../helpers/tokens/forge.ts'

const SECRET = 'a secret that is long enough for all'
const OTHER = randomBytes(64)
const ISSUER = 'https://own.test'
const AUDIENCE = 'lunch'

const now = () => Math.floor(Date.now() / 1000)

const claims = (more: object = {}) => ({
  sub: 'alice',
  resources: { acme: ['menu:read'] },
  exp: now() + 60,
  ...more,
})

/** A token of any header and payload, with a genuine HMAC over them. */
function signed(
  payload: Part = claims(),
  header: Part = { alg: 'HS256', typ: 'JWT' },
  { secret = SECRET, hash = 'sha256' }: { secret?: string | Buffer; hash?: string } = {},
): string {
  const input = `${encode(header)}.${encode(payload)}`
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`
}

type Options = Parameters<typeof sharedSecret>[0]

const BASE: Options = { secrets: [SECRET, OTHER], issuer: ISSUER, audience: AUDIENCE }

const KEY = forgeKey('ES256', 'own-1')
const RSA = forgeKey('RS256', 'own-2')
const publicKeys = { keys: [KEY.publicJwk, RSA.publicJwk] }

async function start(t: TestContext, options: Partial<Options> = {}, more: AuthOptions = {}) {
  const opaqueToken = sharedSecret({ ...BASE, ...options })
  const own = { publicKeys, issuer: ISSUER, audience: AUDIENCE }
  const app = await guardedApp(t, { ...own, opaqueToken, ...more })
  app.get('/:tenant/menu', { config: { require: 'menu:read' } }, async () => 'served')
  app.get('/me', { config: { userInfo: true } }, async ({ userInfo }) => userInfo)
  const ask = async (token: string, url = '/acme/menu') =>
    app.inject({ url, headers: { authorization: `Bearer ${token}` } })
  return { app, ask }
}

test('a token that is signed with the secret has the rights that it names, beside tokens of keys', async (t) => {
  const { ask } = await start(t)
  for (const token of [
    signed(),
    signed(claims({ iss: ISSUER, aud: AUDIENCE })),
    signed(claims({ aud: ['other', AUDIENCE] })),
    signed(claims(), { alg: 'HS256' }),
    signed(claims(), { alg: 'HS256', typ: 'at+jwt', kid: 'any' }),
    signed(claims(), { alg: 'HS256' }, { secret: OTHER }),
    forge(KEY, { payload: claims({ iss: ISSUER, aud: AUDIENCE }) }),
  ]) {
    assert.equal(outcome(await ask(token)), '200')
  }
  const { iss, aud } = (await ask(signed(), '/me')).json()
  assert.deepEqual([iss, aud], [ISSUER, AUDIENCE])
  const elsewhere = await ask(signed(), '/other/menu')
  assert.equal(outcome(elsewhere), '403 ERR_AUTH_TENANT_FORBIDDEN')
})

const publicPem = RSA.publicKey.export({ type: 'spki', format: 'pem' }).toString()
const input = (header: Part, payload: Part = claims()) => `${encode(header)}.${encode(payload)}`
const hmacOf = (text: string) => createHmac('sha256', SECRET).update(text).digest('base64url')

const REFUSED: [what: string, token: () => string][] = [
  ['another secret', () => signed(claims(), { alg: 'HS256' }, { secret: randomBytes(32) })],
  ['the empty secret', () => signed(claims(), { alg: 'HS256' }, { secret: '' })],
  ['the text of a public key', () => signed(claims(), { alg: 'HS256' }, { secret: publicPem })],
  [
    'a public JWK',
    () => signed(claims(), { alg: 'HS256' }, { secret: JSON.stringify(RSA.publicJwk) }),
  ],
  ['RS256 in its header and an HMAC', () => signed(claims(), { alg: 'RS256', kid: RSA.kid })],
  ['ES256 in its header and an HMAC', () => signed(claims(), { alg: 'ES256', kid: KEY.kid })],
  [
    'HS256 in its header and an RSA signature',
    () => forge(RSA, { header: { alg: 'HS256' }, payload: claims() }),
  ],
  ['HS384, which is not allowed', () => signed(claims(), { alg: 'HS384' }, { hash: 'sha384' })],
  ['HS512, which is not allowed', () => signed(claims(), { alg: 'HS512' }, { hash: 'sha512' })],
  ['HS384, signed as HS256', () => signed(claims(), { alg: 'HS384' })],
  ['HS256, signed as HS512', () => signed(claims(), { alg: 'HS256' }, { hash: 'sha512' })],
  ['hs256', () => signed(claims(), { alg: 'hs256' })],
  ['none', () => `${input({ alg: 'none' })}.`],
  ['none and an HMAC', () => signed(claims(), { alg: 'none' })],
  ['no signature', () => `${input({ alg: 'HS256' })}.`],
  ['a list as its alg', () => signed(claims(), { alg: ['HS256'] })],
  ['crit', () => signed(claims(), { alg: 'HS256', crit: ['exp'], exp: 1 })],
  ['b64', () => signed(claims(), { alg: 'HS256', b64: true })],
  ['b64 in crit', () => signed(claims(), { alg: 'HS256', b64: false, crit: ['b64'] })],
  ['two algs, the last of which is none', () => signed(claims(), '{"alg":"HS256","alg":"none"}')],
  ['a logout token', () => signed(claims(), { alg: 'HS256', typ: 'logout+jwt' })],
  ['a typ of another kind', () => signed(claims(), { alg: 'HS256', typ: 'dpop+jwt' })],
  ['a header that is too long', () => signed(claims(), { alg: 'HS256', x: 'a'.repeat(2048) })],
  ['a padded signature', () => `${signed()}=`],
  ['a payload that is a list', () => signed([claims()])],
  ['a payload that is null', () => signed('null')],
  ['a payload that is no JSON', () => signed('alice')],
  ['a payload that is no UTF-8', () => signed(Buffer.from([0x7b, 0xff, 0x7d]))],
  ['no exp', () => signed(claims({ exp: undefined }))],
  ['exp as a text', () => signed(claims({ exp: `${now() + 60}` }))],
  ['exp null', () => signed(claims({ exp: null }))],
  ['exp of the past', () => signed(claims({ exp: now() - 60 }))],
  ['nbf of the future', () => signed(claims({ nbf: now() + 60 }))],
  ...[null, '', 'https://other.test', `${ISSUER}/`, [ISSUER], [], {}, true].map(
    (iss): [string, () => string] => [`iss ${JSON.stringify(iss)}`, () => signed(claims({ iss }))],
  ),
  ...[null, '', 'other', [], ['other'], [null], { 0: AUDIENCE }, 1].map(
    (aud): [string, () => string] => [`aud ${JSON.stringify(aud)}`, () => signed(claims({ aud }))],
  ),
  ['two iss, the last of another', () => signed(`{"iss":"${ISSUER}","iss":"x","exp":9e9}`)],
  ['no sub', () => signed(claims({ sub: undefined }))],
  ['cnf', () => signed(claims({ cnf: { jkt: 'a' } }))],
  ['another payload below its signature', () => `${input({ alg: 'HS256' })}.${hmacOf('x')}`],
]

for (const [what, token] of REFUSED) {
  test(`a token with ${what} is 401, beside keys and without`, async (t) => {
    for (const keys of [publicKeys, { keys: [KEY.publicJwk] }]) {
      const { ask } = await start(t, {}, { publicKeys: keys })
      assert.equal(outcome(await ask(token())), '401 ERR_AUTH_TOKEN_INVALID')
    }
  })
}

test('without the option an HS256 token is refused, and not asked for where an issuer is', async (t) => {
  const app = await guardedApp(t, { publicKeys, issuer: ISSUER, audience: AUDIENCE })
  app.get('/', async () => 'never')
  const headers = { authorization: `Bearer ${signed(claims({ iss: ISSUER, aud: AUDIENCE }))}` }
  assert.equal(outcome(await app.inject({ url: '/', headers })), '401 ERR_AUTH_TOKEN_INVALID')
})

test('algorithms are an allow-list', async (t) => {
  const hashes = [
    ['HS256', 'sha256'],
    ['HS384', 'sha384'],
    ['HS512', 'sha512'],
  ] as const
  for (const [allowed] of hashes) {
    const { ask } = await start(t, { algorithms: [allowed] })
    for (const [alg, hash] of hashes) {
      const expected = alg === allowed ? '200' : '401 ERR_AUTH_TOKEN_INVALID'
      for (const secret of [SECRET, OTHER]) {
        assert.equal(outcome(await ask(signed(claims(), { alg }, { hash, secret }))), expected)
      }
    }
  }
})

test('a Buffer that is changed afterwards is still the secret that it was', async (t) => {
  const secrets = Buffer.from(SECRET)
  const list: Buffer[] = [secrets]
  const { ask } = await start(t, { secrets: list })
  secrets.fill(0)
  list.push(Buffer.alloc(32))
  assert.equal(outcome(await ask(signed())), '200')
  const zero = signed(claims(), { alg: 'HS256' }, { secret: Buffer.alloc(SECRET.length) })
  const pushed = signed(claims(), { alg: 'HS256' }, { secret: Buffer.alloc(32) })
  for (const token of [zero, pushed]) {
    assert.equal(outcome(await ask(token)), '401 ERR_AUTH_TOKEN_INVALID')
  }
})

test('what is no such token is null, so that another function may know it', async (t) => {
  const own = sharedSecret(BASE)
  const key = { sub: 'machine', iss: ISSUER, aud: AUDIENCE, resources: { acme: ['menu:read'] } }
  const { ask } = await start(
    t,
    {},
    { opaqueToken: async (token) => (await own(token)) ?? (token === 'key-1' ? key : null) },
  )
  for (const token of [signed(), 'key-1']) assert.equal(outcome(await ask(token)), '200')
  const ofOthers = [{ iss: 'https://other.test' }, { aud: 'other' }].map((more) =>
    signed(claims(more)),
  )
  for (const token of ['', 'key-1', 'a.b.c', '..', 'a.b', 'a.b.c.d.e', ...ofOthers]) {
    assert.equal(await own(token), null)
  }
})

test('the length of a secret is that of its bytes', async () => {
  const secret = 'é'.repeat(16)
  const own = sharedSecret({ secrets: secret, issuer: ISSUER })
  assert.notEqual(await own(signed(claims(), { alg: 'HS256' }, { secret })), null)
})

test('without an audience the aud stays as it is', async () => {
  const own = sharedSecret({ secrets: SECRET, issuer: ISSUER })
  const found = async (more: object) => (await own(signed(claims(more)))) ?? assert.fail('null')
  assert.equal(Object.hasOwn(Object(await found({})), 'aud'), false)
  assert.deepEqual(Reflect.get(Object(await found({ aud: ['x'] })), 'aud'), ['x'])
})

const pem = (type: 'public' | 'private') =>
  type === 'public' ? publicPem : RSA.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

const WRONG: [what: string, options: object, ...parts: string[]][] = [
  ['a secret of 31 bytes', { secrets: 'x'.repeat(31) }, 'secrets', '32 bytes'],
  ['a Buffer of 31 bytes', { secrets: Buffer.alloc(31) }, 'secrets'],
  ['a weak one among others', { secrets: [SECRET, 'hunter2-hunter2'] }, 'secrets'],
  ['no secret', { secrets: [] }, 'secrets'],
  ['a secret of undefined', { secrets: undefined }, 'secrets'],
  ['a hole', { secrets: Array(1) }, 'secrets'],
  ['a number', { secrets: 1e40 }, 'secrets'],
  ['an object', { secrets: { private: SECRET, public: SECRET } }, 'secrets'],
  ['a list in a list', { secrets: [[SECRET]] }, 'secrets'],
  ['the text of a public key', { secrets: pem('public') }, 'no text of a key'],
  ['that text as a Buffer', { secrets: Buffer.from(`\n${pem('public')}`) }, 'no text of a key'],
  ['the text of a private key', { secrets: [SECRET, pem('private')] }, 'no text of a key'],
  ['a JWK', { secrets: JSON.stringify(RSA.publicJwk, null, 2) }, 'no text of a key'],
  ['a JWK set', { secrets: JSON.stringify(publicKeys) }, 'no text of a key'],
  ['a list of JWKs', { secrets: JSON.stringify([RSA.publicJwk]) }, 'no text of a key'],
  [
    'a set that begins with another member',
    { secrets: JSON.stringify({ issuer: 'a', ...publicKeys }) },
    'no text of a key',
  ],
  [
    'a JWK in base64url',
    { secrets: Buffer.from(JSON.stringify(RSA.publicJwk)).toString('base64url') },
    'no text of a key',
  ],
  [
    'the bytes of a public key',
    { secrets: RSA.publicKey.export({ type: 'spki', format: 'der' }) },
    'no text of a key',
  ],
  ...(['spki', 'pkcs1'] as const).map((type): [string, object, string] => [
    `a public key as ${type} in base64`,
    { secrets: RSA.publicKey.export({ type, format: 'der' }).toString('base64') },
    'no text of a key',
  ]),
  ['that text after a mark', { secrets: `\ufeff${pem('public')}` }, 'no text of a key'],
  ['that text after others', { secrets: `subject=api\n${pem('public')}` }, 'no text of a key'],
  ['no issuer', { issuer: undefined }, 'issuer'],
  ['an empty issuer', { issuer: '' }, 'issuer'],
  ['an audience of undefined', { audience: undefined }, 'audience'],
  ['algorithms of keys', { algorithms: ['HS256', 'RS256'] }, 'algorithms', 'HS256, HS384, HS512'],
  ['none', { algorithms: ['none'] }, 'algorithms'],
  ['no algorithm', { algorithms: [] }, 'algorithms'],
  ['an unknown member', { secret: SECRET }, 'did you mean secrets?'],
]

for (const [what, options, ...parts] of WRONG) {
  test(`${what} stops the boot, and no secret is shown`, () => {
    assert.throws(() => sharedSecret({ ...BASE, ...options }), errorWithoutSecrets(...parts))
  })
}

test('a secret in the place of the options stops the boot, and is not shown', () => {
  const expected = errorWithoutSecrets('options: expected an object', 'secrets: expected')
  for (const options of [SECRET, [SECRET], [[SECRET]]]) {
    assert.throws(() => Reflect.apply(sharedSecret, null, [options]), expected)
  }
})

function errorWithoutSecrets(...parts: readonly string[]) {
  return (error: Error): true => {
    configError(...parts)(error)
    for (const secret of ['x'.repeat(31), 'hunter2', SECRET, 'BEGIN', 'kty']) {
      assert.equal(error.message.includes(secret), false, error.message)
    }
    return true
  }
}

test('the boot error of HS256 in algorithms names sharedSecret', async () => {
  for (const algorithms of [['HS256'], ['ES256', 'HS512']]) {
    const app = Fastify()
    await assert.rejects(
      async () => app.register(tenantAuth, { publicKeys, algorithms }),
      configError('algorithms', 'sharedSecret'),
    )
    await app.close()
  }
  const issuers = [
    { issuer: ISSUER, audience: 'a', tenants: '*', publicKeys, algorithms: ['HS384'] },
  ]
  const app = Fastify()
  await assert.rejects(
    async () => app.register(tenantAuth, { issuers } as AuthOptions),
    configError('issuers[0].algorithms', 'sharedSecret'),
  )
  await app.close()
})
