import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRepeated, readBearerToken } from '../../lib/authentication/token-of-request.ts'
import { TokenRefused } from '../../lib/tokens/token-refused.ts'

const TOKENS = [
  ['Bearer a.b.c', 'a.b.c'],
  ['bearer a.b.c', 'a.b.c'],
  ['BEARER a.b.c', 'a.b.c'],
  ['bEaReR a.b.c', 'a.b.c'],
  ['Bearer   a.b.c', 'a.b.c'],
  // What is no token is refused by the gate behind: nothing of it is cut away here.
  ['Bearer a b', 'a b'],
  ['Bearer a, Bearer b', 'a, Bearer b'],
  ['Bearer a.b.c ', 'a.b.c '],
] as const

for (const [header, token] of TOKENS) {
  test(`the token of ${JSON.stringify(header)} is ${JSON.stringify(token)}`, () => {
    assert.equal(readBearerToken(header), token)
  })
}

const OTHERS = ['', 'Basic YWxpY2U6', 'Bearerx a', 'Bearer-x a', 'DPoP a', 'bearers', ' Bearer a']

for (const header of OTHERS) {
  test(`${JSON.stringify(header)} names no bearer token`, () => {
    assert.equal(readBearerToken(header), null)
  })
}

const MALFORMED = [
  'Bearer',
  'bearer',
  'Bearer ',
  'Bearer    ',
  'Bearer\ta.b.c',
  'Bearer,a',
  'Bearer:a.b.c',
  'Bearer"a"',
  'Bearer\u00a0a.b.c',
  'Bearer=a',
]

for (const header of MALFORMED) {
  test(`${JSON.stringify(header)} is a bearer header without exactly one token`, () => {
    assert.throws(() => readBearerToken(header), TokenRefused)
  })
}

const RAW_HEADERS = [
  [[], false],
  [['Authorization', 'Bearer a'], false],
  [['Host', 'x', 'authorization', 'Bearer a', 'Accept', '*/*'], false],
  [['Authorization', 'Bearer a', 'authorization', 'Bearer b'], true],
  [['AUTHORIZATION', 'Basic x', 'Accept', '*/*', 'Authorization', 'Bearer a'], true],
  // A value that reads like the name is none.
  [
    ['X-Name', 'authorization', 'Authorization', 'authorization', 'X-Other', 'authorization'],
    false,
  ],
  [['Authorizatiom', 'a', 'Authorization', 'Bearer a', 'authorizatiox', 'b'], false],
  [['authorization'], false],
] as const

for (const [rawHeaders, expected] of RAW_HEADERS) {
  test(`${JSON.stringify(rawHeaders)} ${expected ? 'repeats' : 'does not repeat'} the header`, () => {
    assert.equal(isRepeated(rawHeaders), expected)
  })
}

test('a made-up request without raw headers repeats nothing', () => {
  assert.equal(isRepeated(undefined), false)
})
