import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { AuthError } from '../../../lib/errors.ts'
import {
  type ClaimRules,
  claimsRefusal,
  type Lifetime,
  lifetimeRefusal,
  readLifetime,
  registeredClaims,
} from '../../../lib/identity/jwt/registered-claims.ts'
import { forge } from '../../helpers/tokens/forge.ts'
import {
  assertTokenRefused,
  goodClaims,
  goodToken,
  ISSUER,
  KEY,
  startProbe,
} from '../../helpers/tokens/probe.ts'

/** The times of accepted claims; a refusal is thrown. */
function checkClaims(given: Record<string, unknown>, rules: ClaimRules): Lifetime {
  const claims = registeredClaims(given)
  const refused = claimsRefusal(claims, rules)
  if (refused !== undefined) throw refused
  return readLifetime(claims)
}

function checkLifetime(lifetime: Lifetime, tolerance: number): void {
  const refused = lifetimeRefusal(lifetime, tolerance)
  if (refused !== undefined) throw refused
}

const NOW = 1_700_000_000
const RULES = { issuer: ['https://a.test', 'https://b.test'], audience: ['api', 'web'] }
const GOOD = { iss: 'https://a.test', aud: 'api', exp: NOW + 60 }

/** RFC 7800 §3.1: an object that names the key of the sender. */
const CONFIRMATIONS: [cnf: string, isBound: boolean][] = [
  ['{}', false],
  ['{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}', true],
  ['{"x5t#S256":"bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2"}', true],
  ['{"jwk":{}}', true],
  ['{"anything":null}', true],
  ['{"__proto__":{}}', true],
  ['null', true],
  ['""', true],
  ['"jkt"', true],
  ['[]', true],
  ['false', true],
  ['0', true],
]

for (const [cnf, isBound] of CONFIRMATIONS) {
  test(`a token with cnf ${cnf} is ${isBound ? 'bound to its sender' : 'a bearer token'}`, async (t) => {
    const token = forge(KEY, { payload: JSON.stringify(goodClaims({ cnf: JSON.parse(cnf) })) })
    const strict = await startProbe(t)
    if (isBound) assertTokenRefused(await strict.ask(token), cnf)
    else assert.equal((await strict.ask(token)).statusCode, 200)
    const lax = await startProbe(t, { confirmation: 'ignore' })
    if (cnf.startsWith('{')) assert.equal((await lax.ask(token)).statusCode, 200)
    else assertTokenRefused(await lax.ask(token), cnf)
  })
}

test('whether a token is bound is read from its own claims, before mapClaims may drop them', async (t) => {
  const mapClaims = () => ({ sub: 'mapped' })
  const strict = await startProbe(t, { mapClaims, confirmation: 'refuse' })
  assertTokenRefused(await strict.ask(goodToken({ cnf: { jkt: 'x' } })), 'bound')
  assert.equal((await strict.ask(goodToken())).statusCode, 200)
  assert.match(strict.log.join(), /bound to its sender/)
  const inherited = Object.create({ cnf: { jkt: 'x' } }, Object.getOwnPropertyDescriptors(GOOD))
  assert.equal(checkClaims(inherited, RULES).exp, GOOD.exp)
})

/** JSON text, because many values for `iss` cannot be written in an object literal. */
const ISSUERS = [
  '"https://c.test"',
  '"https://a.test/"',
  '"https://A.test"',
  '"HTTPS://a.test"',
  '"https://a.test\\u0000"',
  '" https://a.test"',
  '"https://a.tes"',
  '""',
  'null',
  'true',
  '1',
  '{}',
  '["https://a.test"]',
  '{"0":"https://a.test"}',
]

const AUDIENCES = [
  '"other"',
  '"API"',
  '"ap"',
  '"apis"',
  '"api "',
  '"api\\u0000"',
  '"api web"',
  '"api,web"',
  '""',
  'null',
  'true',
  '0',
  '{}',
  '{"api":true}',
  '[]',
  '["other"]',
  '[["api"]]',
  '["api",1]',
  '["api",null]',
  '[null]',
  '[{"0":"api"}]',
]

const TIMES = [
  'null',
  'true',
  '"1e10"',
  '"9999999999"',
  '[]',
  '[9999999999]',
  '{}',
  '1e999',
  '-1e999',
]

const REFUSED: [what: string, claims: string][] = [
  ...ISSUERS.map((iss): [string, string] => [`iss ${iss}`, `"iss":${iss}`]),
  ...AUDIENCES.map((aud): [string, string] => [`aud ${aud}`, `"aud":${aud}`]),
  ...['exp', 'nbf', 'iat'].flatMap((name) =>
    TIMES.map((time): [string, string] => [`${name} ${time}`, `"${name}":${time}`]),
  ),
]

test('claims without exp do not end, and those that only inherit it neither', () => {
  const { exp, ...endless } = GOOD
  const under: object = JSON.parse(JSON.stringify(endless).replace('{', '{"__proto__":{"exp":1},'))
  for (const claims of [endless, Object.assign(Object.create({ exp }), endless), under]) {
    assert.equal(checkClaims(claims, RULES).exp, undefined)
  }
  checkLifetime({ exp: undefined, nbf: undefined, iat: undefined }, 5)
})

/**
 * Milliseconds after NOW, tolerance in seconds, and whether a token with `exp` NOW + 60 still
 * serves.
 */
const EXPIRIES = [
  [0, 0, true],
  [59_999, 0, true],
  [60_000, 0, false],
  [60_000, 5, true],
  [64_999, 5, true],
  [65_000, 5, false],
  [1e12, 5, false],
  [60_400, 0.5, true],
  [60_500, 0.5, false],
] as const

/** Milliseconds after NOW, tolerance in seconds, and whether a token from NOW + 60 on serves. */
const STARTS = [
  [0, 0, false],
  [59_999, 0, false],
  [60_000, 0, true],
  [54_999, 5, false],
  [55_000, 5, true],
  [1e12, 0, true],
] as const

function at<T>(milliseconds: number, read: () => T): T {
  mock.timers.enable({ apis: ['Date'], now: NOW * 1000 + milliseconds })
  try {
    return read()
  } finally {
    mock.timers.reset()
  }
}

function serves(lifetime: object, milliseconds: number, tolerance: number): boolean {
  const whole = { exp: NOW + 1e12, nbf: undefined, iat: undefined, ...lifetime }
  try {
    at(milliseconds, () => checkLifetime(whole, tolerance))
    return true
  } catch (error) {
    assert.ok(error instanceof AuthError, `${error}`)
    return false
  }
}

for (const [milliseconds, tolerance, expected] of EXPIRIES) {
  test(`${milliseconds} ms on, with ${tolerance} s of tolerance, exp in 60 s ${expected ? 'serves' : 'does not'}`, () => {
    assert.equal(serves({ exp: NOW + 60 }, milliseconds, tolerance), expected)
  })
}

for (const [milliseconds, tolerance, expected] of STARTS) {
  test(`${milliseconds} ms on, with ${tolerance} s of tolerance, a start in 60 s ${expected ? 'serves' : 'does not'}`, () => {
    assert.equal(serves({ nbf: NOW + 60 }, milliseconds, tolerance), expected)
    assert.equal(serves({ iat: NOW + 60 }, milliseconds, tolerance), expected)
  })
}

test('a start within a second counts when the second is over, and an end at once', () => {
  assert.equal(serves({ nbf: NOW + 59.5 }, 59_999, 0), false)
  assert.equal(serves({ iat: NOW + 59.5 }, 59_999, 0), false)
  assert.equal(serves({ nbf: NOW + 59.5 }, 60_000, 0), true)
  assert.equal(serves({ exp: NOW + 59.5 }, 59_499, 0), true)
  assert.equal(serves({ exp: NOW + 59.5 }, 59_500, 0), false)
})

test('the whole application refuses bad claims, even if they are well signed', async (t) => {
  const probe = await startProbe(t, { issuer: RULES.issuer, audience: RULES.audience })
  const now = Math.floor(Date.now() / 1000)
  const further = [
    '"exp":0',
    '"exp":-1',
    '"exp":1',
    `"exp":${now - 6}`,
    '"nbf":1e12',
    '"iat":1e12',
    '"sub":""',
  ]
  const good = JSON.stringify(goodClaims({ iss: 'https://a.test' })).slice(0, -1)
  assert.equal((await probe.ask(forge(KEY, { payload: `${good}}` }))).statusCode, 200)
  const bent = [...REFUSED, ...further.map((claim): [string, string] => [claim, claim])]
  for (const [what, claim] of bent) {
    // The last of two members wins, so the good one stands first.
    assertTokenRefused(await probe.ask(forge(KEY, { payload: `${good},${claim}}` })), what)
  }
  for (const name of ['iss', 'aud', 'exp', 'sub']) {
    const claims = goodClaims({ iss: 'https://a.test' })
    const under = JSON.stringify({ ...claims, [name]: undefined }).slice(0, -1)
    const value = JSON.stringify(claims[name])
    assertTokenRefused(await probe.ask(forge(KEY, { payload: `${under}}` })), `without ${name}`)
    const payload = `${under},"__proto__":{"${name}":${value}}}`
    assertTokenRefused(await probe.ask(forge(KEY, { payload })), `${name} under __proto__`)
  }
  assert.equal(probe.handled.count, 1)
})

test('the whole application refuses a payload that is not a JSON object', async (t) => {
  const probe = await startProbe(t)
  const good = JSON.stringify(goodClaims())
  const payloads = [
    ...[
      'null',
      'true',
      '1',
      '"alice"',
      '[]',
      `[${good}]`,
      '',
      ' ',
      '{',
      `${good}{}`,
      'undefined',
      'NaN',
    ],
    ...[Buffer.from(`\ufeff${good}`), Buffer.from(good, 'utf16le')],
    Buffer.concat([Buffer.from(good.slice(0, -2)), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
  ]
  for (const payload of payloads.filter((part) => part.length > 0)) {
    assertTokenRefused(await probe.ask(forge(KEY, { payload })), payload.toString())
  }
})

test('an exp beyond all dates causes no failure', async (t) => {
  const probe = await startProbe(t)
  for (const exp of [1e15, 1e300, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER]) {
    const token = goodToken({ exp })
    for (let again = 0; again < 2; again++) {
      assert.equal((await probe.ask(token)).statusCode, 200, String(exp))
      assert.equal((await probe.ask(token, '/t/acme')).statusCode, 200, String(exp))
    }
  }
})

test('clockTolerance is the same for a new token and for a cached one', async (t) => {
  const probe = await startProbe(t, { clockTolerance: 20 })
  t.mock.timers.enable({ apis: ['Date'], now: NOW * 1000 })
  const early = goodToken({ iat: NOW, exp: NOW + 10 })
  assert.equal((await probe.ask(early)).statusCode, 200)
  t.mock.timers.setTime((NOW + 29) * 1000)
  assert.equal((await probe.ask(early)).statusCode, 200)
  assert.equal((await probe.ask(goodToken({ iat: NOW + 49, exp: NOW + 10 }))).statusCode, 200)
  assertTokenRefused(await probe.ask(goodToken({ iat: NOW + 50, exp: NOW + 99 })), 'iat')
  assertTokenRefused(await probe.ask(goodToken({ nbf: NOW + 50, exp: NOW + 99 })), 'nbf')
  t.mock.timers.setTime((NOW + 30) * 1000)
  assertTokenRefused(await probe.ask(early), 'seen before')
  assertTokenRefused(await probe.ask(goodToken({ iat: NOW, exp: NOW + 10, n: 1 })), 'never seen')
})

test('without issuer and audience in the configuration, these claims are not looked at', async (t) => {
  const probe = await startProbe(t, { issuer: undefined, audience: undefined })
  const token = goodToken({ iss: undefined, aud: undefined })
  assert.equal((await probe.ask(token)).statusCode, 200)
  const strict = await startProbe(t, { audience: undefined })
  assert.equal((await strict.ask(goodToken({ aud: 1 }))).statusCode, 200)
  assertTokenRefused(await strict.ask(goodToken({ iss: `${ISSUER}/` })), 'another issuer')
})
