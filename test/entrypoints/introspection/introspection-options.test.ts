import assert from 'node:assert/strict'
import { generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify } from 'jose'
import { introspection } from '../../../lib/entrypoints/introspection/index.ts'
import { configError } from '../../helpers/app/config-error.ts'
import { introspectionServer } from '../../helpers/servers/introspection-server.ts'
import { imported } from '../../helpers/tokens/forge.ts'

const rsa = imported(generateKeyPairSync('rsa', { modulusLength: 2048 }))
const ec = (namedCurve: string) => imported(generateKeyPairSync('ec', { namedCurve }))
const ed = imported(generateKeyPairSync('ed25519'))

interface Pair {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** What the JWK says beside its key, and with what is signed. */
const KEYS: readonly [pair: Pair, more: JsonWebKey, header: object][] = [
  [rsa, {}, { alg: 'RS256' }],
  [rsa, { alg: 'RS512', kid: 'one' }, { alg: 'RS512', kid: 'one' }],
  [rsa, { alg: 'PS256' }, { alg: 'PS256' }],
  [ec('P-256'), { use: 'sig', kid: 'two' }, { alg: 'ES256', kid: 'two' }],
  [ec('P-384'), {}, { alg: 'ES384' }],
  [ec('P-521'), { key_ops: ['sign'] }, { alg: 'ES512' }],
  [ed, {}, { alg: 'EdDSA' }],
  [ed, { alg: 'Ed25519' }, { alg: 'Ed25519' }],
]

async function assertions(t: TestContext, privateKey: object) {
  const server = await introspectionServer(t)
  const { issuer } = server
  const ask = introspection({ issuer, clientId: 'menu-api', privateKey })
  await ask('a-token')
  await ask('a-token')
  for (const { authorization, body } of server.asked) {
    assert.equal(authorization, undefined)
    const type = body.get('client_assertion_type')
    assert.equal(type, 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
  }
  return { issuer, jwts: server.asked.map(({ body }) => body.get('client_assertion') ?? '') }
}

for (const [{ privateKey, publicKey }, more, header] of KEYS) {
  const name = `${privateKey.asymmetricKeyType} with ${JSON.stringify(more)}`
  test(`a key of type ${name} signs by ${JSON.stringify(header)}`, async (t) => {
    const jwk = { ...privateKey.export({ format: 'jwk' }), ...more }
    const { issuer, jwts } = await assertions(t, jwk)
    const known: JWK = { kty: '', ...publicKey.export({ format: 'jwk' }), ...header }
    const keys = createLocalJWKSet({ keys: [known] })
    const seen = new Set<unknown>()
    for (const jwt of jwts) {
      assert.deepEqual(decodeProtectedHeader(jwt), header)
      const { payload } = await jwtVerify(jwt, keys, { issuer: 'menu-api', audience: issuer })
      assert.equal(payload.sub, 'menu-api')
      seen.add(payload.jti)
    }
    assert.equal(seen.size, 3)
  })
}

const GOOD = {
  issuer: 'https://login.example.com',
  clientId: 'menu-api',
  clientSecret: 'a-secret-that-no-message-shows',
}

const { clientSecret: _, ...WITHOUT } = GOOD
const { privateKey, publicKey } = ec('P-256')
const JWK_OF_INTROSPECTION_OPTIONS = privateKey.export({ format: 'jwk' })

/** As an application without types gives them. */
const make = (options: unknown) => Reflect.apply(introspection, undefined, [options])

const refuses = (options: unknown, ...parts: (string | RegExp)[]) =>
  assert.throws(() => make(options), configError(...parts))

const isWithoutSecret = ({ message }: Error) => !message.includes('a-secret')

const ADDRESS = 'expected an https URL (http on loopback only) without credentials'

/** Values of `issuer` and `url` alike. */
const BAD_ADDRESSES: readonly [what: string, value: unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['empty', ''],
  ['a number', 1],
  ['an object', new URL(GOOD.issuer)],
  ['no URL', 'login.example.com'],
  ['http beyond loopback', 'http://login.example.com'],
  ['http on an address like loopback', 'http://127.0.0.1.example.com'],
  ['another protocol', 'ftp://login.example.com'],
  ['a user', 'https://somebody@login.example.com'],
  ['a password', 'https://:hidden@login.example.com'],
  ['a fragment', 'https://login.example.com/#x'],
  ['an empty fragment', 'https://login.example.com/#'],
]

for (const [what, value] of BAD_ADDRESSES) {
  test(`an issuer and a url that are ${what} are refused`, () => {
    refuses({ ...GOOD, issuer: value }, `issuer: ${ADDRESS}`, '(introspection())')
    refuses({ ...GOOD, url: value }, `url: ${ADDRESS}`)
  })
}

test('http on loopback and https are accepted', () => {
  for (const issuer of ['http://localhost:1', 'http://127.0.0.1', 'http://[::1]:1', GOOD.issuer]) {
    assert.equal(typeof make({ ...GOOD, issuer }), 'function')
    assert.equal(typeof make({ ...GOOD, url: `${issuer}/introspect?realm=staff` }), 'function')
  }
})

test('an issuer has no query', () => {
  refuses({ ...GOOD, issuer: 'https://login.example.com/?realm=staff' }, /^issuer: .*query/)
})

const NO_TEXT = [undefined, null, '', 1, ['a']]

test('a client needs an id, and a secret that is a text', () => {
  for (const value of NO_TEXT) {
    refuses({ ...GOOD, clientId: value }, 'clientId: expected a non-empty string')
    refuses({ ...GOOD, clientSecret: value }, 'clientSecret: expected a non-empty string')
  }
})

test('an id and a secret that end with a line break are refused with the cure', () => {
  const cure = 'it ends with a line break, as files do; trim() takes that away'
  refuses({ ...GOOD, clientId: 'lunch\n' }, `found "lunch\\n" (introspection()): ${cure}`)
  const found = `clientSecret: expected a non-empty string, found a text of 8 characters`
  refuses({ ...GOOD, clientSecret: 'secret\r\n' }, `${found} (introspection()): ${cure}`)
})

test('a client has a secret or a key, and not both', () => {
  refuses(WITHOUT, 'expected either clientSecret or privateKey, found neither')
  refuses(
    { ...GOOD, privateKey: JWK_OF_INTROSPECTION_OPTIONS },
    'expected either clientSecret or privateKey, found both',
  )
  refuses({ ...GOOD, privateKey: undefined }, 'found both')
  assert.equal(typeof make({ ...WITHOUT, privateKey: JWK_OF_INTROSPECTION_OPTIONS }), 'function')
})

/** What is no private key of a client. */
const BAD_KEYS: readonly [what: string, value: unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['a PEM', privateKey.export({ format: 'pem', type: 'pkcs8' })],
  ['a public JWK', publicKey.export({ format: 'jwk' })],
  ['a JWK set', { keys: [JWK_OF_INTROSPECTION_OPTIONS] }],
  ['a secret', { kty: 'oct', k: 'c2VjcmV0' }],
  ['a JWK of a symmetric algorithm', { ...JWK_OF_INTROSPECTION_OPTIONS, alg: 'HS256' }],
  ['a JWK of an algorithm that does not fit', { ...JWK_OF_INTROSPECTION_OPTIONS, alg: 'RS256' }],
  ['a JWK of a curve that does not fit', { ...JWK_OF_INTROSPECTION_OPTIONS, crv: 'P-384' }],
  ['a JWK whose algorithm is no text', { ...JWK_OF_INTROSPECTION_OPTIONS, alg: null }],
  ['a weak key', weakKey()],
]

for (const [what, value] of BAD_KEYS) {
  test(`a private key that is ${what} is refused, and not shown`, () => {
    refuses(
      { ...WITHOUT, privateKey: value },
      /^privateKey: expected a private JWK for an asymmetric algorithm, found a value of type \w+ \(/,
    )
  })
}

test('signed is a boolean', () => {
  for (const signed of [undefined, null, 'yes', 1]) {
    refuses({ ...GOOD, signed }, 'signed: expected a boolean')
  }
  for (const signed of [true, false]) assert.equal(typeof make({ ...GOOD, signed }), 'function')
})

test('what is no object has no members, and is not shown', () => {
  for (const options of [undefined, null, 'a-secret', ['a-secret'], [GOOD]]) {
    refuses(options, 'issuer: expected', 'clientId: expected', 'clientSecret: expected')
    assert.throws(() => make(options), isWithoutSecret)
  }
})

test('a misspelt member is refused with what is meant, and its value is not shown', () => {
  refuses(
    { ...GOOD, client_secret: 'a-secret', scope: 'a-secret-too' },
    'client_secret: expected clientSecret, ',
    'did you mean clientSecret?',
    /scope: expected one of issuer, url, clientId, clientSecret, privateKey, signed, found "scope"[^?\n]*$/m,
  )
  assert.throws(() => make({ ...GOOD, client_secret: 'a-secret' }), isWithoutSecret)
})

test('a member that is inherited, or a getter, is refused rather than left out', () => {
  const message = 'options: expected a plain object, found one of a class, or one that inherits'
  refuses(Object.assign(Object.create({ signed: true }), GOOD), message)
  refuses(Object.create(GOOD), message)
  refuses(new Map(Object.entries(GOOD)), message)
  const options = Object.defineProperty({ ...GOOD }, 'signed', {
    get: () => true,
    enumerable: true,
  })
  refuses(options, 'signed: expected')
})

test('all problems are named at once, without the secret', () => {
  const options = {
    issuer: 'x',
    url: 'y',
    clientId: '',
    clientSecret: [GOOD.clientSecret],
    more: 1,
  }
  assert.throws(
    () => make(options),
    ({ message }: Error) => {
      const keys = message.split('\n').map((line) => line.split(':')[0])
      assert.deepEqual(keys, ['issuer', 'url', 'clientId', 'clientSecret', 'more'])
      return !message.includes(GOOD.clientSecret)
    },
  )
})

function weakKey(): object {
  const { privateKey } = imported(generateKeyPairSync('rsa', { modulusLength: 1024 }))
  return privateKey.export({ format: 'jwk' })
}
