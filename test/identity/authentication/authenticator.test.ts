import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readInvalidation } from '../../../lib/identity/authentication/authenticator.ts'

const GIVEN = [
  ...[{ issuer: 'i' }, { sub: 's' }, { issuer: 'i', sub: '' }],
  ...[{ issuer: null }, { issuer: null, sub: 's' }, { tenant: 't' }],
]

class User {
  get sub() {
    return 's'
  }
}

const MISTAKES: [what: string, given: unknown][] = [
  ['an issuer that is undefined', { issuer: undefined }],
  ['a sub that is undefined', { issuer: 'i', sub: undefined }],
  ['a sub that is null', { sub: null }],
  ['a sub that is a number', { sub: 5 }],
  ['a member that is misspelt', { subject: 's' }],
  ['a member that is not enumerable', Object.defineProperty({}, 'sub', { value: 5 })],
  ['a tenant that is null', { tenant: null }],
  ['a tenant beside an issuer', { tenant: 't', issuer: 'i' }],
  ['a tenant beside a sub', { tenant: 't', sub: 's' }],
  ['a member that every object has', { constructor: 's' }],
  ['an inherited tenant', Object.create({ tenant: 't' })],
  ['an inherited tenant without more', Object.create(Object.assign(Object.create(null), GIVEN[0]))],
  [
    'an inherited sub beside an issuer',
    Object.assign(Object.create({ sub: 's' }), { issuer: 'i' }),
  ],
  ['an object with getters of its class', new User()],
  ['a Map', new Map([['sub', 's']])],
  ['null', null],
  ['a string', 'i'],
  ['a number', 5],
  ['true', true],
  ['a list', ['i']],
]

for (const [what, given] of MISTAKES) {
  test(`${what} is a mistake, and must not mean everybody`, () => {
    assert.throws(() => readInvalidation(given), TypeError)
  })
}
