import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthError } from '../../../lib/errors.ts'
import {
  readActors,
  readTokenNames,
  registeredClaims,
} from '../../../lib/identity/jwt/registered-claims.ts'
import { dateOf, tokenInfo } from '../../../lib/identity/jwt/token-info.ts'

const ACTORS: [act: string, ...actors: object[]][] = [
  ['{}'],
  ['{"act":{"sub":"admin"}}', { sub: 'admin', issuer: null }],
  ['{"act":{"sub":"a","iss":"https://b.test"}}', { sub: 'a', issuer: 'https://b.test' }],
  [
    '{"act":{"sub":"last","act":{"sub":"first","iss":"i"}}}',
    { sub: 'last', issuer: null },
    { sub: 'first', issuer: 'i' },
  ],
  [`{"act":${chainOf(8)}}`, ...Array.from({ length: 8 }, () => ({ sub: 'a', issuer: null }))],
]

/** So many actors, one nested in the other. */
function chainOf(count: number): string {
  return `${'{"sub":"a","act":'.repeat(count - 1)}{"sub":"a"}${'}'.repeat(count - 1)}`
}

for (const [claims, ...actors] of ACTORS) {
  test(`the actors of ${claims} are ${JSON.stringify(actors)}`, () => {
    const read = readActors(registeredClaims(JSON.parse(claims)))
    assert.deepEqual(read, actors)
    assert.equal(Object.isFrozen(read) && read.every(Object.isFrozen), true)
  })
}

const MALFORMED = [
  '{"sub":"last","act":"any"}',
  '{"sub":"last","act":null}',
  '{"sub":"last","act":{"sub":"first","act":{}}}',
  chainOf(9),
  'null',
  '"admin"',
  'true',
  '[]',
  '[{"sub":"admin"}]',
  '{}',
  '{"sub":""}',
  '{"sub":1}',
  '{"sub":null}',
  '{"__proto__":{"sub":"admin"}}',
  '{"iss":"https://b.test"}',
  '{"sub":"admin","iss":null}',
  '{"sub":"admin","iss":""}',
  '{"sub":"admin","iss":["https://b.test"]}',
]

for (const act of MALFORMED) {
  test(`a token with the actor ${act} is refused`, () => {
    assert.throws(
      () => readActors(registeredClaims(JSON.parse(`{"act":${act}}`))),
      (error) => error instanceof AuthError && error.reason === 'act is malformed',
    )
  })
}

test('an actor is not inherited', () => {
  assert.deepEqual(readActors(registeredClaims(Object.create({ act: { sub: 'admin' } }))), [])
})

const DATES: readonly [seconds: number, milliseconds: number][] = [
  [0, 0],
  [1_800_000_000, 1_800_000_000_000],
  [1.5, 1500],
  [-1, -1000],
  [1e300, 8.64e15],
  [-1e300, -8.64e15],
  [Number.POSITIVE_INFINITY, 8.64e15],
]

for (const [seconds, milliseconds] of DATES) {
  test(`the date of ${seconds} s is ${milliseconds} ms after the epoch, and a new one each time`, () => {
    const date = dateOf(seconds)
    assert.equal(date.getTime(), milliseconds)
    date.setTime(1)
    assert.equal(dateOf(seconds).getTime(), milliseconds)
  })
}

test('a claim that the token lacks, inherits, or has as another type is null', () => {
  const none = { issuer: null, sub: null, jti: null, sid: null }
  assert.deepEqual(readTokenNames(registeredClaims({})), none)
  const found = readTokenNames(registeredClaims({ iss: 1, sub: null, jti: ['j'], sid: {} }))
  assert.deepEqual(found, none)
  assert.deepEqual(
    readTokenNames(registeredClaims(Object.create({ iss: 'i', sub: 's', jti: 'j', sid: 'd' }))),
    none,
  )
  const timeless = tokenInfo(none, { exp: undefined, nbf: undefined, iat: undefined })
  assert.deepEqual([timeless.issuedAt, timeless.expiresAt], [null, null])
})
