import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { introspection } from '../../lib/entrypoints/introspection/index.ts'
import { CLIENT, introspectionServer, json } from '../helpers/servers/introspection-server.ts'

const TOKEN = 'a-real-token'
const KEYS = await generateKeyPair('ES256')
const OTHER = await generateKeyPair('ES256')
const RSA = await generateKeyPair('RS256')
const TYPE = 'application/token-introspection+jwt'
const NO_ANSWER = { code: 'ERR_INTROSPECTION_ANSWER' }

/** What one answer has instead of what it should have. */
interface Odd {
  readonly claims?: object
  readonly header?: object
  readonly key?: CryptoKey | Uint8Array
  readonly contentType?: string
  /** What becomes of the JWT. */
  readonly spoil?: (jwt: string) => string
}

async function start(
  t: TestContext,
  withUrl = false,
  otherMetadata: object = {},
  empty: object = {},
) {
  const server = await introspectionServer(t)
  const jwk = { ...(await exportJWK(KEYS.publicKey)), kid: 'one', alg: 'ES256', ...empty }
  const rsa = { ...(await exportJWK(RSA.publicKey)), kid: 'rsa' }
  const metadata = {
    issuer: server.issuer,
    introspection_endpoint: server.url,
    jwks_uri: `${server.issuer}/jwks`,
    introspection_signing_alg_values_supported: ['ES256', 'HS256', 'none'],
    ...otherMetadata,
  }
  server.elsewhere = (response, path) =>
    json(response, path === '/jwks' ? { keys: [jwk, rsa] } : metadata)

  const answer = async (response: ServerResponse, token: string, odd: Odd) => {
    const said = token === TOKEN ? { active: true, sub: 'alice' } : { active: false }
    const jwt = await new SignJWT({
      iss: server.issuer,
      aud: CLIENT.clientId,
      iat: Math.floor(Date.now() / 1000),
      token_introspection: said,
      ...odd.claims,
    })
      .setProtectedHeader({
        alg: 'ES256',
        kid: 'one',
        typ: 'token-introspection+jwt',
        ...odd.header,
      })
      .sign(odd.key ?? KEYS.privateKey)
    response.setHeader('content-type', odd.contentType ?? TYPE).end(odd.spoil?.(jwt) ?? jwt)
  }
  const sign = (odd: Odd) => {
    server.answer = (response, { token }) => void answer(response, token, odd)
  }
  sign({})
  const { issuer, url } = server
  const ask = introspection({ issuer, ...(withUrl && { url }), signed: true, ...CLIENT })
  return { server, sign, ask, keys: [jwk, rsa] }
}

for (const withUrl of [false, true]) {
  const where = withUrl ? 'a configured' : 'a discovered'
  test(`a signed answer of ${where} endpoint counts`, async (t) => {
    const { server, ask } = await start(t, withUrl)
    assert.deepEqual(await ask(TOKEN), { sub: 'alice', iss: server.issuer })
    assert.equal(await ask('another'), null)
    const found = server.asked.map(({ accept }) => accept)
    assert.deepEqual(found, [TYPE, TYPE, TYPE])
  })
}

test('if the metadata name no algorithms for answers, RS256 is the one', async (t) => {
  const none = { introspection_signing_alg_values_supported: undefined }
  const { server, sign, ask } = await start(t, false, none)
  sign({ header: { alg: 'RS256', kid: 'rsa' }, key: RSA.privateKey })
  assert.deepEqual(await ask(TOKEN), { sub: 'alice', iss: server.issuer })
  sign({})
  await assert.rejects(ask(TOKEN), NO_ANSWER)
})

test('the content type of a signed answer may have parameters', async (t) => {
  const { server, sign, ask } = await start(t)
  sign({ contentType: `${TYPE}; charset=utf-8` })
  assert.deepEqual(await ask(TOKEN), { sub: 'alice', iss: server.issuer })
})

test('keys in an answer that is no 200 are none', async (t) => {
  const { server, ask, keys } = await start(t)
  const good = server.elsewhere
  server.elsewhere = (response, path) => {
    if (path === '/jwks') json(response, { keys }, 500)
    else good?.(response, path)
  }
  await assert.rejects(ask(TOKEN), NO_ANSWER)
  server.elsewhere = good
  assert.deepEqual(await ask(TOKEN), { sub: 'alice', iss: server.issuer })
})

test('members of a key that say nothing do not matter', async (t) => {
  const empty = { use: null, d: null, key_ops: [], oth: [], x5c: [] }
  const { server, ask } = await start(t, false, {}, empty)
  assert.deepEqual(await ask(TOKEN), { sub: 'alice', iss: server.issuer })
})

const payload = (claims: object) => Buffer.from(JSON.stringify(claims)).toString('base64url')

/** Answers that prove nothing. */
const ODD: readonly [what: string, odd: Odd][] = [
  ['another key', { key: OTHER.privateKey }],
  ['an unknown kid', { header: { kid: 'two' } }],
  ['another issuer', { claims: { iss: 'https://other.example.com' } }],
  ['no issuer', { claims: { iss: undefined } }],
  ['another audience', { claims: { aud: 'another-api' } }],
  ['no audience', { claims: { aud: undefined } }],
  ['an end that is over', { claims: { exp: 1 } }],
  ['another type', { header: { typ: 'JWT' } }],
  ['no type', { header: { typ: undefined } }],
  ['no answer in it', { claims: { token_introspection: undefined } }],
  ['an answer that is no object', { claims: { token_introspection: true } }],
  ['a secret as its key', { header: { alg: 'HS256' }, key: Buffer.from('a secret'.repeat(8)) }],
  ['a signature cut off', { spoil: (jwt) => jwt.replace(/[^.]*$/, '') }],
  ['no algorithm', { spoil: (jwt) => `${payload({ alg: 'none' })}.${jwt.split('.')[1]}.` }],
  ['five parts', { spoil: () => 'a.b.c.d.e' }],
  ['no JWT', { spoil: () => '{"active":true,"sub":"mallory"}' }],
  ['the content type of JSON', { contentType: 'application/json' }],
]

for (const [what, odd] of ODD) {
  test(`an answer with ${what} is none`, async (t) => {
    const { server, sign, ask } = await start(t)
    await ask(TOKEN)
    sign(odd)
    await assert.rejects(ask(TOKEN), NO_ANSWER)
    sign({})
    assert.deepEqual(await ask(TOKEN), { sub: 'alice', iss: server.issuer })
  })
}

test('an answer that is not signed is none', async (t) => {
  const { server, ask } = await start(t)
  await ask(TOKEN)
  server.answer = (response) => json(response, { active: true, sub: 'alice' })
  await assert.rejects(ask(TOKEN), NO_ANSWER)
})

test('a signed answer that was not asked for, whose keys are not known, is none', async (t) => {
  const { server } = await start(t)
  const ask = introspection({ issuer: server.issuer, ...CLIENT })
  await assert.rejects(ask(TOKEN), NO_ANSWER)
})

test('a changed payload is none', async (t) => {
  const { server, sign, ask } = await start(t)
  await ask(TOKEN)
  const claims = {
    iss: server.issuer,
    aud: CLIENT.clientId,
    iat: 1,
    token_introspection: { active: true, sub: 'mallory' },
  }
  sign({ spoil: (jwt) => jwt.replace(/\.[^.]*\./, `.${payload(claims)}.`) })
  await assert.rejects(ask(TOKEN), NO_ANSWER)
})

test('an endpoint that signs "active" for a random token is at fault like any other', async (t) => {
  const { sign, ask } = await start(t)
  sign({ claims: { token_introspection: { active: true } } })
  await assert.rejects(ask(TOKEN), { code: 'ERR_INTROSPECTION_ALL_ACTIVE' })
})
