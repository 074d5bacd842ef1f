import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answeredClaims } from '../../lib/opaque/answered-claims.ts'

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
  { active: true, sub: 'alice', token_type: 'Bearer', token_use: 'refresh_token' },
  { active: true, sub: 'alice', token_use: 'id' },
]

for (const answer of REFUSED) {
  test(`null: ${JSON.stringify(answer)}`, () => {
    assert.equal(claims(answer), null)
  })
}

test('the case of a type does not count', () => {
  for (const token_type of ['Bearer', 'bearer', 'BEARER']) {
    assert.notEqual(claims({ active: true, token_type }), null)
  }
  for (const typ of ['Bearer', 'JWT', 'at+jwt', 'application/at+JWT']) {
    assert.notEqual(claims({ active: true, typ }), null)
  }
  for (const token_use of ['access_token', 'access']) {
    assert.notEqual(claims({ active: true, token_use }), null)
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
