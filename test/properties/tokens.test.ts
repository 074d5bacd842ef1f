import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { anyJson, anyText, objectText } from '../helpers/arbitraries/arbitrary-claims.ts'
import { holds } from '../helpers/arbitraries/property.ts'
import { expectUnspoiltPrototypes } from '../helpers/processes/unspoilt.ts'
import { forge, partsOf } from '../helpers/tokens/forge.ts'
import { goodClaims, goodToken, ISSUER, KEY, openProbe } from '../helpers/tokens/probe.ts'

expectUnspoiltPrototypes()
const probe = await openProbe()
after(() => probe.app.close())
const TOKEN = goodToken({ exp: Math.floor(Date.now() / 1000) + 100_000 })

test('a good token with one byte changed, added or removed is never let in', async (t) => {
  assert.equal((await probe.ask(TOKEN)).statusCode, 200)
  const byte = fc.oneof(
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(...Buffer.from('.-_=+/ A')),
  )
  const place = fc.nat(TOKEN.length - 1)
  const bent = fc.oneof(
    fc.tuple(place, byte).map(([at, code]) => spliced(at, 1, String.fromCharCode(code))),
    fc.tuple(place, byte).map(([at, code]) => spliced(at, 0, String.fromCharCode(code))),
    place.map((at) => spliced(at, 1, '')),
    fc.tuple(place, fc.nat(7)).map(([at, bit]) => flippedBit(at, bit)),
  )
  await holds(
    t,
    fc.asyncProperty(bent, async (token) => {
      // One more space before a token does not belong to it.
      fc.pre(token.replace(/^ /, '') !== TOKEN)
      assert.equal((await probe.ask(token)).statusCode, 401)
    }),
  )
})

function spliced(at: number, take: number, put: string): string {
  return TOKEN.slice(0, at) + put + TOKEN.slice(at + take)
}

/** One bit of the bytes behind one part. The part is then spelt correctly. */
function flippedBit(at: number, bit: number): string {
  const parts = partsOf(TOKEN)
  const part = at % 3
  const bytes = Buffer.from(parts[part] ?? '', 'base64url')
  const index = at % bytes.length
  bytes.writeUInt8(bytes.readUInt8(index) ^ (1 << bit), index)
  parts[part] = bytes.toString('base64url')
  return parts.join('.')
}

const CLAIMS = ['iss', 'aud', 'sub', 'exp', 'nbf', 'iat', 'resources', 'preferred_username', 'jti']
const HEADERS = ['alg', 'kid', 'typ', 'crit', 'b64', 'jwk', 'jku', 'x5c', 'cty', 'zip', 'enc']

test('any JSON value for any claim gives 200, 401 or 403, and 200 only for correct claims', async (t) => {
  const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...CLAIMS) }, anyText)
  const members = fc.array(fc.tuple(name, anyJson), { minLength: 1, maxLength: 4 })
  await holds(
    t,
    fc.asyncProperty(members, async (bent) => {
      const good = Object.entries(goodClaims()).map(memberText)
      // The last of two members wins, so the good one stands first.
      const payload = objectText([...good, ...bent])
      const { statusCode } = await probe.ask(forge(KEY, { payload }), '/t/acme')
      assert.ok([200, 401, 403].includes(statusCode), String(statusCode))
      if (statusCode === 200) assertRight(JSON.parse(payload))
    }),
  )
})

function memberText([name, value]: [string, unknown]): [string, string] {
  return [name, JSON.stringify(value)]
}

/** What must be true of claims that are let in, written in another way than in the plugin. */
function assertRight(claims: Record<string, unknown>): void {
  const own = new Map(Object.entries(claims))
  const now = Date.now() / 1000
  assert.match(String(own.get('sub')), /./s)
  assert.equal(typeof own.get('sub'), 'string')
  assert.equal(own.get('iss'), ISSUER)
  assert.equal([own.get('aud')].flat().includes('api'), true)
  assert.ok(Number.isFinite(own.get('exp')) && Number(own.get('exp')) + 5 > now, 'exp')
  for (const name of ['nbf', 'iat']) {
    if (own.has(name))
      assert.ok(Number.isFinite(own.get(name)) && Number(own.get(name)) - 5 <= now, name)
  }
  assert.match(JSON.stringify(own.get('resources')), /"acme":\[/)
}

test('any JSON value for any header parameter, and any bytes for a part, give 200 or 401', async (t) => {
  const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...HEADERS) }, anyText)
  const header = fc.oneof(
    { weight: 4, arbitrary: fc.array(fc.tuple(name, anyJson), { minLength: 1, maxLength: 3 }) },
    fc.uint8Array({ minLength: 1 }),
  )
  const payload = fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    fc.uint8Array({ minLength: 1 }),
  )
  const good: [string, string][] = Object.entries({ alg: KEY.alg, kid: KEY.kid }).map(memberText)
  await holds(
    t,
    fc.asyncProperty(header, payload, async (bent, bytes) => {
      const text = bent instanceof Uint8Array ? Buffer.from(bent) : objectText([...good, ...bent])
      const body = bytes === null ? goodClaims() : Buffer.from(bytes)
      const { statusCode } = await probe.ask(forge(KEY, { header: text, payload: body }))
      assert.ok([200, 401].includes(statusCode), String(statusCode))
      if (statusCode === 200) assertAllowed(JSON.parse(text.toString()))
    }),
  )
})

function assertAllowed(header: Record<string, unknown>): void {
  const own = new Map(Object.entries(header))
  assert.equal(own.get('alg'), 'ES256')
  assert.equal(own.has('crit') || own.has('b64'), false)
  if (own.has('kid')) assert.equal(own.get('kid'), KEY.kid)
  if (own.has('typ')) assert.match(String(own.get('typ')), /^(application\/)?(at\+)?jwt$/i)
}

test('any text for a header gives 200 or 401', async (t) => {
  const word = fc.oneof(
    anyText,
    fc.constantFrom('Bearer', 'bearer ', ' ', '\t', ',', TOKEN, 'Basic'),
  )
  await holds(
    t,
    fc.asyncProperty(fc.array(word, { maxLength: 5 }), async (words) => {
      const authorization = words.join('')
      const { statusCode } = await probe.app.inject({ url: '/me', headers: { authorization } })
      const isGood =
        /^bearer +/i.test(authorization) && authorization.replace(/^bearer +/i, '') === TOKEN
      assert.equal(statusCode, isGood ? 200 : 401)
    }),
  )
})
