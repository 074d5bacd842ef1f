import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { examineKeys } from '../../lib/entrypoints/cli/doctor/examine-keys.ts'
import { introspection } from '../../lib/entrypoints/introspection/index.ts'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { supportedAlgorithms } from '../../lib/identity/jwks/algorithms.ts'
import tenantAuth, { AuthService } from '../../lib/index.ts'
import { configError } from '../helpers/app/config-error.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { type LogLines, logLines } from '../helpers/app/log-lines.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { until } from '../helpers/processes/until.ts'
import { CLIENT, introspectionServer, json } from '../helpers/servers/introspection-server.ts'
import { KeyServer } from '../helpers/servers/key-server.ts'
import { encode, imported } from '../helpers/tokens/forge.ts'

// A customer's server chooses what it publishes. Nothing of it may block the process.

const authority = await createTestAuthority({ issuer: 'https://acme.test', audience: 'lunch' })
const jwkOf = (namedCurve: string) =>
  imported(generateKeyPairSync('ec', { namedCurve })).publicKey.export({ format: 'jwk' })
const rsaPair = imported(generateKeyPairSync('rsa', { modulusLength: 2048 }))
const rsa = rsaPair.publicKey.export({ format: 'jwk' })
const ones = (bytes: number) => Buffer.alloc(bytes, 0xff).toString('base64url')
const p521 = jwkOf('P-521')
const many = (key: object, count: number) =>
  Array.from({ length: count }, (_, i) => ({ ...key, kid: `${i}` }))

/** Each blocks the process of a guard that imports it for so long that it can be measured. */
const SETS: readonly (readonly [what: string, keys: readonly object[], reason: string])[] = [
  ['a huge exponent', [{ ...rsa, e: ones(30_000) }], 'no usable key: 1 member: 1 too costly'],
  ['a huge modulus', [{ ...rsa, n: ones(300_000) }], 'no usable key: 1 member: 1 too costly'],
  ['both', [{ ...rsa, n: ones(99_999), e: ones(9999) }], 'no usable key: 1 member: 1 too costly'],
  ['a huge x', [{ ...p521, x: ones(300_000) }], 'no usable key: 1 member: 1 malformed'],
  ['100 keys on P-521', many(p521, 100), 'the JWK set is too costly'],
  ['100 keys on P-384', many(jwkOf('P-384'), 100), 'the JWK set is too costly'],
  [
    '100 huge exponents',
    many({ ...rsa, e: ones(3000) }, 100),
    'no usable key: 100 members: 100 too costly',
  ],
]

/** An application whose issuers come from a function. */
async function withCustomer(t: TestContext, rules: object, log: LogLines) {
  const app = bareApp(t, { logger: log.logger })
  const issuers = () => ({ audience: 'lunch', tenants: ['acme'], ...rules })
  await app.register(tenantAuth, { issuers, allowPrivateIssuers: true, keysRetry: 0.05 })
  app.get('/me', async () => 'ok')
  await app.ready()
  return app
}

/** Anybody can write it. */
const UNSIGNED = [
  { alg: 'RS256', kid: 'a' },
  { iss: authority.issuer, aud: 'lunch', exp: 2 ** 33, sub: 'eve' },
]
const stranger = { authorization: `Bearer ${UNSIGNED.map(encode).join('.')}.${ones(256)}` }

/** Milliseconds that this process has computed. Other processes of the machine do not count. */
function computed(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Milliseconds for which the longest turn of the event loop kept all others waiting. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let last = computed()
  let isOver = false
  const beat = () => {
    const now = computed()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(beat)
  }
  beat()
  await work()
  isOver = true
  return longest
}

/** What a set costs that everybody publishes, at the most. */
async function usualTurn(t: TestContext): Promise<number> {
  const server = await KeyServer.start(() => ({ keys: many(jwkOf('P-256'), 100) }))
  t.after(() => server.close())
  const app = await withCustomer(t, { publicKeysUrl: server.url }, logLines())
  return longestTurn(async () => app.inject({ url: '/me', headers: stranger }))
}

for (const [what, keys, reason] of SETS) {
  test(`a customer who publishes ${what} has no keys, and blocks nobody, not by retries`, async (t) => {
    const server = await KeyServer.start(() => ({ keys }))
    t.after(() => server.close())
    const usual = await usualTurn(t)
    const log = logLines()
    const app = await withCustomer(t, { publicKeysUrl: server.url }, log)
    const longest = await longestTurn(async () => {
      const response = await app.inject({ url: '/me', headers: stranger })
      assertRefused(response, 'ERR_AUTH_KEYS_UNAVAILABLE')
      await until(() => {
        void app.inject({ url: '/me', headers: stranger })
        return server.fetches > 2
      })
    })
    const [line] = log.lines('keys cannot be fetched')
    assert.equal(line?.['reason'], reason)
    assert.ok(longest < 8 * usual + 30, `${longest} ms, and ${usual} ms as usual`)
  })

  test(`${what} in the configuration stops the boot, and the doctor says why`, () => {
    const options = { publicKeys: { keys }, issuer: 'https://a.test', audience: 'lunch' }
    assert.throws(() => new AuthService(options), configError(reason))
    const { findings } = examineKeys({ keys }, 'keys', supportedAlgorithms)
    const found = findings.map(({ level }) => level)
    assert.deepEqual(found, ['wrong'])
    assert.ok(findings[0]?.what.includes(reason), findings[0]?.what)
  })
}

test('ten keys on P-521 are kept, and tokens of each verify', async (t) => {
  const newPair = () => imported(generateKeyPairSync('ec', { namedCurve: 'P-521' }))
  const pairs = Array.from({ length: 10 }, newPair)
  const keys = pairs.map(({ publicKey }, i) => ({
    ...publicKey.export({ format: 'jwk' }),
    kid: `${i}`,
  }))
  const app = await withCustomer(t, { publicKeys: { keys } }, logLines())
  for (const [i, { privateKey }] of pairs.entries()) {
    const token = await new SignJWT({ iss: authority.issuer, aud: 'lunch', sub: 'a' })
      .setProtectedHeader({ alg: 'ES512', kid: `${i}` })
      .setExpirationTime('1h')
      .sign(privateKey)
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await app.inject({ url: '/me', headers })).statusCode, 200)
  }
})

for (const [what, odd] of [
  ['a huge exponent', { e: ones(30_000) }],
  ['an exponent of 33 bytes', { e: ones(33) }],
] as const) {
  test(`an introspection endpoint that signs with ${what} gives no answer`, async (t) => {
    const server = await introspectionServer(t)
    const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
    let jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256' }
    const metadata = {
      issuer: server.issuer,
      introspection_endpoint: server.url,
      jwks_uri: `${server.issuer}/jwks`,
    }
    server.elsewhere = (response, path) =>
      json(response, path === '/jwks' ? { keys: [jwk] } : metadata)
    const sign = async (active: boolean) =>
      new SignJWT({
        iss: server.issuer,
        aud: CLIENT.clientId,
        token_introspection: { active, sub: 'alice' },
      })
        .setIssuedAt()
        .setProtectedHeader({ alg: 'RS256', kid: 'one', typ: 'token-introspection+jwt' })
        .sign(privateKey)
    const imported = t.mock.method(crypto.subtle, 'importKey')
    server.answer = (response, { token }) =>
      void sign(token === 'good').then((jwt) =>
        response.setHeader('content-type', 'application/token-introspection+jwt').end(jwt),
      )
    const ask = () => introspection({ issuer: server.issuer, signed: true, ...CLIENT })('good')
    assert.deepEqual(await ask(), { sub: 'alice', iss: server.issuer })
    const before = imported.mock.callCount()
    jwk = { ...jwk, ...odd }
    await assert.rejects(ask(), { code: 'ERR_INTROSPECTION_ANSWER' })
    const published = imported.mock.calls.slice(before).filter(({ arguments: [format, key] }) => {
      return String(format) === 'jwk' && Object(key).e === odd.e
    })
    assert.equal(published.length, 0, 'it was imported')
  })
}
