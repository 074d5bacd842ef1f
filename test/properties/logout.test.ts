import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import Fastify from 'fastify'
import { backchannelLogout, denyList } from '../../lib/entrypoints/revocation/index.ts'
import tenantAuth from '../../lib/index.ts'
import { trusting } from '../helpers/app/guarded-app.ts'
import {
  CLIENT,
  FORM,
  formOf,
  LOGOUT,
  logoutClaims,
  logoutToken,
  URL_OF_LOGOUT,
} from '../helpers/app/logout-app.ts'
import { anyJson, anyText, objectText } from '../helpers/arbitraries/arbitrary-claims.ts'
import { holds } from '../helpers/arbitraries/property.ts'
import { expectUnspoiltPrototypes } from '../helpers/processes/unspoilt.ts'
import { forge, forgeKey } from '../helpers/tokens/forge.ts'
import { ISSUER, KEY } from '../helpers/tokens/probe.ts'

expectUnspoiltPrototypes()
const revoked = denyList()
const app = Fastify()
await app.register(
  tenantAuth,
  trusting({ issuer: ISSUER, publicKeys: { keys: [KEY.publicJwk] }, isRevoked: revoked }),
)
await app.register(backchannelLogout, { revoked, clients: [CLIENT] })
after(() => app.close())

async function statusOf(payload: string | Buffer, headers: Record<string, string> = FORM) {
  const response = await app.inject({ method: 'POST', url: URL_OF_LOGOUT, headers, payload })
  assert.equal(response.headers['cache-control'], 'no-store')
  if (response.statusCode !== 200) assert.equal(response.body, '{"error":"invalid_request"}')
  return response.statusCode
}

const CLAIMS = ['iss', 'aud', 'sub', 'sid', 'exp', 'iat', 'nbf', 'jti', 'events', 'nonce']
const MEMBERS = ['null', '[]', '{}', '"x"', '{"a":1}', JSON.stringify(LOGOUT)]
const NOW = Math.floor(Date.now() / 1000)
const anyValue = fc.oneof(
  anyJson,
  fc.constantFrom(...MEMBERS, `"${CLIENT}"`, `["a","${CLIENT}"]`, `["${CLIENT}",7]`),
  fc.constantFrom(...MEMBERS).map((json) => `{"${Object.keys(LOGOUT)[0]}":${json}}`),
  fc.constantFrom(-1e5, -1000, 1000, 1e5).map((offset) => String(NOW + offset)),
)

/** Whether claims are those of a logout token, by the words of OpenID Connect §2.4 and §2.6. */
function isLogout(text: string): boolean {
  const claims: Record<string, unknown> = Object.assign(Object.create(null), JSON.parse(text))
  const { iss, aud, sub, sid, exp, iat, nbf, jti, events } = claims
  const isText = (value: unknown) => typeof value === 'string' && value !== ''
  const isTime = (value: unknown): value is number => Number.isFinite(value)
  const audiences = [aud].flat()
  const [[name = ''] = []] = Object.entries(LOGOUT)
  const member: unknown = Object.getOwnPropertyDescriptor(Object(events), name)?.value
  return (
    [iss === ISSUER, isText(jti), !('nonce' in claims)].every(Boolean) &&
    audiences.every((each) => typeof each === 'string') &&
    audiences.includes(CLIENT) &&
    [sub, sid].every((each) => each === undefined || isText(each)) &&
    (sub !== undefined || sid !== undefined) &&
    isTime(exp) &&
    exp > NOW &&
    isTime(iat) &&
    iat < NOW + 500 &&
    Math.abs(iat) < 8.64e12 &&
    (nbf === undefined || (isTime(nbf) && nbf < NOW + 500)) &&
    typeof member === 'object' &&
    member !== null &&
    !Array.isArray(member)
  )
}

test('any JSON value for any claim gives 200 or 400, and 200 only for a logout token', async (t) => {
  const name = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...CLAIMS) }, anyText)
  const members = fc.array(fc.tuple(name, anyValue), { minLength: 1, maxLength: 4 })
  let accepted = 0
  await holds(
    t,
    fc.asyncProperty(members, fc.subarray(CLAIMS, { maxLength: 2 }), async (over, absent) => {
      const good = { ...logoutClaims(), exp: NOW + 100_000 }
      const own = Object.entries(good).map(([key, value]) => [key, JSON.stringify(value)] as const)
      const kept = own.filter(([key]) => !absent.includes(key))
      const payload = objectText([...kept, ...over])
      const status = await statusOf(formOf(forge(KEY, { header: { typ: 'logout+jwt' }, payload })))
      assert.equal(status, isLogout(payload) ? 200 : 400, payload)
      if (status === 200) accepted += 1
    }),
  )
  assert.notEqual(accepted, 0)
})

test('nothing malformed logs anybody out, or gives another status than 400, 413 and 415', async (t) => {
  const before = revoked.size()
  const token = logoutToken({ exp: NOW + 100_000 })
  const stranger = logoutToken({}, {}, forgeKey('ES256', 'probe'))
  const form = formOf(token)
  const anyBytes = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes))
  const body = fc.oneof(
    anyBytes,
    anyText.map((text) => `logout_token=${text}`),
    anyText.map((text) => `${form}&logout_token=${text}`),
    anyText.map((text) => formOf(`${token}${text}x`)),
    fc.nat(form.length - 1).map((length) => form.slice(0, length)),
    fc.webQueryParameters().map((query) => `${query}&logout_token=`),
    fc.constantFrom(formOf(stranger), 'x'.repeat(16_385), form.replace('.', '')),
  )
  const type = fc.oneof(
    { weight: 5, arbitrary: fc.constant(FORM['content-type'] ?? '') },
    fc.constantFrom('application/json', 'multipart/form-data', 'text/plain', 'x', ''),
  )
  await holds(
    t,
    fc.asyncProperty(body, type, async (payload, contentType) => {
      const status = await statusOf(payload, { 'content-type': contentType })
      assert.equal([400, 413, 415].includes(status), true, String(status))
    }),
  )
  assert.equal(revoked.size(), before)
})
