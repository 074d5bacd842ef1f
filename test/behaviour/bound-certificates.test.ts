import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { assertUnproved, boundApp, challengesOf } from '../helpers/app/bound-app.ts'
import { as, authority, RIGHTS } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { selfSigned } from '../helpers/servers/self-signed.ts'
import { HOLDER, proofOf, provedBy } from '../helpers/tokens/bound.ts'

const UNAVAILABLE = '503 ERR_AUTH_PROOFS_UNAVAILABLE'
const INVALID = '401 ERR_AUTH_TOKEN_INVALID'

const mine = selfSigned('client.test').cert
const other = selfSigned('client.test').cert
const { raw } = new X509Certificate(mine)
const x5t = createHash('sha256').update(raw).digest('base64url')

const certified = (cnf: object = {}) =>
  authority.token({ resources: RIGHTS, cnf: { 'x5t#S256': x5t, ...cnf } })

/** Answers of the function, and of the guard. */
const ANSWERS: readonly [what: string, answer: () => unknown, expected: string][] = [
  ['the certificate in PEM', () => mine, '200'],
  ['the certificate in DER', () => raw, '200'],
  ['a copy of it', () => Buffer.from(raw), '200'],
  ['PEM with other ends of lines', () => mine.replaceAll('\n', '\r\n'), '200'],
  ['null', () => null, INVALID],
  ['another certificate', () => other, INVALID],
  ['another one in DER', () => new X509Certificate(other).raw, INVALID],
  ['undefined', () => undefined, UNAVAILABLE],
  ['false', () => false, UNAVAILABLE],
  ['an object', () => ({ raw }), UNAVAILABLE],
  ['the thumbprint', () => x5t, UNAVAILABLE],
  ['an empty text', () => '', UNAVAILABLE],
  ['no bytes', () => Buffer.alloc(0), UNAVAILABLE],
  ['bytes that are none', () => Buffer.from('no certificate'), UNAVAILABLE],
  ['half of it', () => raw.subarray(0, 100), UNAVAILABLE],
  ['a promise of it', async () => mine, UNAVAILABLE],
  ['a promise that is rejected', () => Promise.reject(new Error('away')), UNAVAILABLE],
  [
    'an error',
    () => {
      throw new Error('away')
    },
    UNAVAILABLE,
  ],
]

for (const [what, answer, expected] of ANSWERS) {
  test(`clientCertificate that gives ${what} makes ${expected}`, async (t) => {
    const { logger, lines } = logLines()
    const app = await boundApp(t, { clientCertificate: answer }, { logger })
    const token = await certified()
    for (const url of ['/me', '/guests']) {
      const before = lines('request refused').length
      const response = await app.inject({ url, headers: { authorization: `Bearer ${token}` } })
      assert.equal(outcome(response), expected)
      assert.equal(lines('request refused').length, before + (expected === '200' ? 0 : 1))
      if (expected === INVALID) assertUnproved(response, 'invalid_token', 'Bearer')
      if (expected !== UNAVAILABLE) continue
      const [line] = lines('request refused')
      assert.match(String(line?.['reason']), /^clientCertificate \w/)
      assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/)
      assert.deepEqual(challengesOf(response).lines, [])
    }
  })
}

test('the function is asked with the request, for tokens that need it alone', async (t) => {
  const asked: string[] = []
  const clientCertificate = ({ url }: { url: string }) => {
    asked.push(url)
    return mine
  }
  const app = await boundApp(t, { clientCertificate })
  const jkt = HOLDER.thumbprint
  const keyed = await authority.token({ resources: RIGHTS, cnf: { jkt } })
  await app.inject('/me')
  await app.inject({ url: '/me', headers: await as() })
  await app.inject({ url: '/me', headers: provedBy(HOLDER, keyed) })
  await app.inject({ url: '/me', headers: { authorization: `Bearer ${keyed}` } })
  assert.deepEqual(asked, [])
  const headers = { authorization: `Bearer ${await certified()}` }
  for (const _ of [1, 2]) assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
  assert.deepEqual(asked, ['/me', '/me'])
})

/** Thumbprints as they might be misspelt. */
const MISSPELT: readonly [what: string, value: unknown][] = [
  ['hexadecimal', Buffer.from(x5t, 'base64url').toString('hex')],
  ['hexadecimal in base64url', Buffer.from(raw.toString('hex')).toString('base64url')],
  ['padding', `${x5t}=`],
  ['base64', `${Buffer.from(x5t, 'base64url').toString('base64')}`],
  ['lower case', x5t.toLowerCase()],
  ['a list', [x5t]],
  ['SHA-1', createHash('sha1').update(raw).digest('base64url')],
  ['of PEM', createHash('sha256').update(mine).digest('base64url')],
]

for (const [what, value] of MISSPELT) {
  test(`a thumbprint that is ${what} fits no certificate`, async (t) => {
    const app = await boundApp(t, { clientCertificate: () => mine })
    const token = await certified({ 'x5t#S256': value })
    const headers = { authorization: `Bearer ${token}` }
    assert.equal(outcome(await app.inject({ url: '/me', headers })), INVALID)
  })
}

test('a token of a certificate comes as Bearer, and never as DPoP', async (t) => {
  const app = await boundApp(t, { clientCertificate: () => mine, confirmation: 'require' })
  const token = await certified()
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    const headers = { authorization: `${scheme} ${token}` }
    assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
  }
  assertUnproved(
    await app.inject({ url: '/me', headers: provedBy(HOLDER, token) }),
    'invalid_token',
  )
  const headers = { authorization: `dpop ${token}` }
  assertUnproved(await app.inject({ url: '/me', headers }), 'invalid_token')
})

test('a token of a key and a certificate needs both, and the scheme DPoP', async (t) => {
  const seen: string[] = []
  let certificate: string | null = mine
  const app = await boundApp(t, {
    clientCertificate: () => certificate,
    proofSeen: (key: string) => seen.push(key) > 0,
  })
  const token = await certified({ jkt: HOLDER.thumbprint })
  const ask = async (headers: { authorization: string }) => app.inject({ url: '/me', headers })
  assert.equal(outcome(await ask(provedBy(HOLDER, token))), '200')
  assert.equal(seen.length, 1)
  assertUnproved(await ask({ authorization: `Bearer ${token}` }), 'invalid_token', 'Bearer')
  const proved = { authorization: `Bearer ${token}`, dpop: proofOf(HOLDER, { token }) }
  assertUnproved(await ask(proved), 'invalid_token', 'Bearer')
  assertUnproved(await ask({ authorization: `DPoP ${token}` }), 'invalid_dpop_proof')
  for (const wrong of [null, other]) {
    certificate = wrong
    assertUnproved(await ask(provedBy(HOLDER, token)), 'invalid_token')
  }
  assert.equal(seen.length, 1)
})

test('an unknown member beside a certificate is ignored', async (t) => {
  const app = await boundApp(t, { clientCertificate: () => mine })
  const headers = { authorization: `Bearer ${await certified({ kid: 'x', jku: 'https://x' })}` }
  assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
})

test('an opaque token is bound to a certificate as others are', async (t) => {
  const { issuer: iss, audience: aud } = authority
  let certificate = mine
  const app = await boundApp(t, {
    clientCertificate: () => certificate,
    opaqueToken: () => ({ iss, aud, sub: 'u', resources: RIGHTS, cnf: { 'x5t#S256': x5t } }),
  })
  const headers = { authorization: 'Bearer opaque' }
  for (const _ of [1, 2]) assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
  certificate = other
  assert.equal(outcome(await app.inject({ url: '/me', headers })), INVALID)
})

test('headers that name a certificate are believed from nobody by default', async (t) => {
  const app = await boundApp(t, {}, { trustProxy: true })
  const token = await certified()
  const base64 = raw.toString('base64')
  for (const name of ['client-cert', 'x-forwarded-client-cert', 'ssl-client-cert', 'x-ssl-cert']) {
    for (const value of [`:${base64}:`, base64, encodeURIComponent(mine), `Cert="${base64}"`]) {
      const headers = { authorization: `Bearer ${token}`, [name]: value }
      assert.equal(outcome(await app.inject({ url: '/me', headers })), INVALID)
    }
  }
})
