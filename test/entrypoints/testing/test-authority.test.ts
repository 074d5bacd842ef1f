import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import Fastify from 'fastify'
import { decodeJwt, decodeProtectedHeader, importJWK, jwtVerify } from 'jose'
import {
  createTestAuthority,
  type TestTokenOptions,
} from '../../../lib/entrypoints/testing/index.ts'
import { startAuthority } from '../../../lib/entrypoints/testing/test-authority.ts'
import { type AuthOptions, tenantAuth } from '../../../lib/index.ts'
import { configError } from '../../helpers/app/config-error.ts'
import { bareApp } from '../../helpers/app/guarded-app.ts'
import { runs } from '../../helpers/processes/program.ts'

async function createApp(options: AuthOptions) {
  const app = Fastify()
  await app.register(tenantAuth, options)
  app.get(
    '/:tenant/me',
    { config: { tenant: true, userInfo: true } },
    async (request) => request.userInfo,
  )
  return app
}

test('an authority has the defaults of its options, or the given values', async () => {
  const authority = await createTestAuthority()
  assert.equal(authority.issuer, 'https://authority.test')
  assert.equal(authority.audience, 'api')
  assert.equal(decodeProtectedHeader(await authority.token()).alg, 'ES256')
  const other = await createTestAuthority({
    issuer: 'https://other.test',
    audience: 'web',
    algorithm: 'EdDSA',
  })
  const token = await other.token()
  assert.deepEqual([other.issuer, other.audience], ['https://other.test', 'web'])
  assert.equal(decodeJwt(token).iss, 'https://other.test')
  assert.equal(decodeJwt(token).aud, 'web')
  assert.equal(decodeProtectedHeader(token).alg, 'EdDSA')
})

for (const algorithm of ['RS256', 'PS256', 'ES256', 'ES512', 'EdDSA']) {
  test(`its ${algorithm} tokens go through the real verifier`, async (t) => {
    const authority = await createTestAuthority({ algorithm })
    const app = await createApp(authority.options)
    t.after(() => app.close())
    const headers = await authority.headers({ resources: { acme: [] } })
    const response = await app.inject({ url: '/acme/me', headers })
    assert.equal(response.statusCode, 200)
    const forged = `${headers.authorization.slice(0, -8)}AAAAAAAA`
    const refused = await app.inject({ url: '/acme/me', headers: { authorization: forged } })
    assert.equal(refused.statusCode, 401)
  })
}

test('without an asymmetric algorithm there is no authority', async () => {
  for (const algorithm of ['HS256', 'none']) {
    const message = `algorithm: expected one of RS256, .*, found "${algorithm}"`
    await assert.rejects(createTestAuthority({ algorithm }), configError(new RegExp(message)))
  }
})

test('publicKeys holds one public key, and no part of the private one', async () => {
  const { publicKeys } = await createTestAuthority()
  assert.equal(publicKeys.keys.length, 1)
  const [key] = publicKeys.keys
  assert.ok(key, 'a key is published')
  assert.equal(key.kid, 'fastify-tenant-auth-test-1')
  assert.equal(key.alg, 'ES256')
  assert.equal(key.use, 'sig')
  assert.equal(Object.hasOwn(key, 'd'), false)
})

test('a token without a user is for test-user, and the published key verifies it', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
  const authority = await createTestAuthority()
  const token = await authority.token()
  const [jwk] = authority.publicKeys.keys
  assert.ok(jwk, 'a key is published')
  const { issuer, audience } = authority
  const { payload, protectedHeader } = await jwtVerify(token, await importJWK(jwk), {
    issuer,
    audience,
  })
  const { iat, exp, ...claims } = payload
  assert.deepEqual(claims, { iss: issuer, aud: audience, sub: 'test-user' })
  assert.deepEqual({ iat, exp }, { iat: 1_800_000_000, exp: 1_800_000_300 })
  assert.deepEqual(protectedHeader, {
    alg: 'ES256',
    kid: 'fastify-tenant-auth-test-1',
    typ: 'at+jwt',
  })
})

test('a token has the claims that it is given, further ones too', async () => {
  const authority = await createTestAuthority()
  const user = {
    sub: 'alice',
    preferred_username: 'Alice',
    resources: { acme: ['menu:read'] },
    groups: [1],
  }
  const { iss, aud, iat, exp, ...claims } = decodeJwt(await authority.token(user))
  assert.ok(iss && aud && iat && exp, 'every claim is there')
  assert.deepEqual(claims, user)
})

const NOW = 1_800_000_000

const TOKEN_OPTIONS: [options: TestTokenOptions, claims: object][] = [
  [{}, { iat: NOW, exp: NOW + 300, nbf: undefined }],
  [{ expiresIn: 10 }, { exp: NOW + 10, iat: NOW }],
  [{ expiresIn: -10 }, { exp: NOW - 10 }],
  [{ expiresIn: undefined }, { exp: undefined, iat: NOW }],
  [{ notBefore: 20 }, { nbf: NOW + 20 }],
  [{ notBefore: -20 }, { nbf: NOW - 20 }],
  [{ notBefore: undefined }, { nbf: undefined }],
  [{ issuedAt: 30 }, { iat: NOW + 30, exp: NOW + 300 }],
  [{ issuedAt: undefined }, { iat: undefined, exp: NOW + 300 }],
  [{ issuer: 'x' }, { iss: 'x', aud: 'api' }],
  [{ issuer: undefined }, { iss: undefined, aud: 'api' }],
  [{ audience: 'x' }, { aud: 'x' }],
  [{ audience: ['x', 'api'] }, { aud: ['x', 'api'] }],
  [{ audience: undefined }, { aud: undefined }],
]

for (const [options, expected] of TOKEN_OPTIONS) {
  const shown = Object.entries(options).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  test(`a token of options (${shown.join(', ')}) has the claims that they ask for`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: NOW * 1000 })
    const authority = await createTestAuthority()
    const claims = decodeJwt(await authority.token({}, options))
    for (const [name, value] of Object.entries(expected)) assert.deepEqual(claims[name], value)
  })
}

test('header parameters replace its own, and one given as undefined is left out', async () => {
  const authority = await createTestAuthority()
  const header = { kid: undefined, typ: 'JWT', 'x-own': 1 }
  const token = await authority.token({}, { header })
  assert.deepEqual(decodeProtectedHeader(token), { alg: 'ES256', typ: 'JWT', 'x-own': 1 })
})

test('headers are those of a request, with the same options as a token', async () => {
  const authority = await createTestAuthority()
  const { authorization, ...others } = await authority.headers({ sub: 'bob' }, { issuer: 'x' })
  assert.deepEqual(others, {})
  const [scheme, token = ''] = authorization.split(' ')
  assert.equal(scheme, 'Bearer')
  assert.equal(decodeJwt(token).sub, 'bob')
  assert.equal(decodeJwt(token).iss, 'x')
})

test('rotate replaces the key, in publicKeys and for tokens', async (t) => {
  const authority = await createTestAuthority()
  const before = authority.publicKeys
  const old = await createApp(authority.options)
  t.after(() => old.close())
  await authority.rotate()
  assert.notDeepEqual(authority.publicKeys, before)
  const found = authority.publicKeys.keys.map(({ kid }) => kid)
  assert.deepEqual(found, ['fastify-tenant-auth-test-2'])
  assert.deepEqual(authority.options.publicKeys, authority.publicKeys)
  const headers = await authority.headers({ resources: { acme: [] } })
  assert.equal((await old.inject({ url: '/acme/me', headers })).statusCode, 401)
  const app = await createApp(authority.options)
  t.after(() => app.close())
  assert.equal((await app.inject({ url: '/acme/me', headers })).statusCode, 200)
})

test('listen serves the current key set over real HTTP, until close', async (t) => {
  const authority = await createTestAuthority()
  t.after(() => authority.close())
  const url = await authority.listen()
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/openidconnect\/public_keys$/)
  const first = await fetch(url)
  assert.equal(first.headers.get('content-type'), 'application/jwk-set+json')
  assert.deepEqual(await first.json(), authority.publicKeys)
  await authority.rotate()
  assert.deepEqual(await (await fetch(url)).json(), authority.publicKeys)
  await assert.rejects(authority.listen(), /listens already/)
  await authority.close()
  await assert.rejects(fetch(url))
  const again = await authority.listen(Number(new URL(url).port))
  assert.equal(again, url)
  assert.equal((await fetch(url)).status, 200)
})

test('an application gets its keys from the endpoint, and follows a rotation', async (t) => {
  const authority = await createTestAuthority()
  t.after(() => authority.close())
  const { issuer, audience } = authority
  const app = await createApp({ publicKeysUrl: await authority.listen(), issuer, audience })
  t.after(() => app.close())
  const user = { resources: { acme: [] } }
  const ask = async () => {
    const headers = await authority.headers(user)
    return (await app.inject({ url: '/acme/me', headers })).statusCode
  }
  assert.equal(await ask(), 200)
  await authority.rotate()
  assert.equal(await ask(), 200)
})

test('close without listen does nothing, and may be repeated', async () => {
  const authority = await createTestAuthority()
  await authority.close()
  await authority.listen()
  await Promise.all([authority.close(), authority.close()])
})

test('the second of two calls of listen at once throws', async (t) => {
  const authority = await createTestAuthority()
  t.after(() => authority.close())
  const both = await Promise.allSettled([authority.listen(), authority.listen()])
  const found = both.map(({ status }) => status)
  assert.deepEqual(found, ['fulfilled', 'rejected'])
  await assert.rejects(authority.listen(), /listens already/)
})

test('close ends a server that does not listen yet, and then another one may listen', async () => {
  const authority = await createTestAuthority()
  const pending = authority.listen()
  await authority.close()
  await assert.rejects(fetch(await pending))
  const url = await authority.listen()
  assert.equal((await fetch(url)).status, 200)
  await authority.close()
  await assert.rejects(fetch(url))
})

test('close and a listen that fails do not disturb each other', async (t) => {
  const [first, second] = await Promise.all([createTestAuthority(), createTestAuthority()])
  t.after(() => Promise.all([first.close(), second.close()]))
  const { port } = new URL(await first.listen())
  const failing = assert.rejects(second.listen(Number(port)), { code: 'EADDRINUSE' })
  await second.close()
  const again = second.listen()
  await failing
  await assert.rejects(second.listen(), /listens already/)
  assert.equal((await fetch(await again)).status, 200)
})

test('a port in use is an error of listen, and another port can be tried', async (t) => {
  const [first, second] = await Promise.all([createTestAuthority(), createTestAuthority()])
  t.after(() => Promise.all([first.close(), second.close()]))
  const { port } = new URL(await first.listen())
  await assert.rejects(second.listen(Number(port)), { code: 'EADDRINUSE' })
  assert.equal((await fetch(await second.listen())).status, 200)
})

test('an authority that is declared with await using closes at the end of its block', async () => {
  let url: string
  {
    await using authority = await createTestAuthority()
    url = await authority.listen()
    assert.equal((await fetch(url)).status, 200)
  }
  await assert.rejects(fetch(url))
})

test('a test that fails after listen() ends, and so does its process', async () => {
  const program = runs('test/helpers/processes/children/failing-test.ts')
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const child = spawn(process.execPath, program, {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 30_000,
  })
  const [printed, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  assert.match(printed, /answered 200, and this test fails/)
  assert.deepEqual({ code, signal }, { code: 1, signal: null })
})

test('its issuer is its own address, where an application discovers its keys', async (t) => {
  const authority = await startAuthority(0, 'lunch')
  t.after(() => authority.close())
  const { issuer, audience } = authority
  const app = bareApp(t)
  await app.register(tenantAuth, { issuer, audience })
  app.get('/:tenant/menu', { config: { tenant: 'required' } }, async () => 'soup')
  const token = await authority.token({ resources: { acme: [] } })
  const headers = { authorization: `Bearer ${token}` }
  assert.equal((await app.inject({ url: '/acme/menu', headers })).statusCode, 200)
  assert.match(issuer, /^http:\/\/localhost:\d+$/)
  assert.deepEqual([decodeJwt(token).iss, decodeJwt(token).aud], [issuer, 'lunch'])
})
