import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { AuthError } from '../../../lib/errors.ts'
import { BEARER, extractToken } from '../../../lib/identity/authentication/extract-token.ts'

/** The part of a request that is read here. */
function requestWith(authorization?: string, rawHeaders?: readonly string[]): FastifyRequest {
  const headers = authorization === undefined ? {} : { authorization }
  return Object.assign(Object.create(null), { headers, raw: { rawHeaders } })
}

const refused = (reason: string) => (error: unknown) =>
  error instanceof AuthError && error.reason === reason

const TOKENS = [
  ['Bearer a.b.c', 'a.b.c'],
  ['bearer a.b.c', 'a.b.c'],
  ['BEARER a.b.c', 'a.b.c'],
  ['bEaReR a.b.c', 'a.b.c'],
  ['Bearer  a.b.c', 'a.b.c'],
  ['Bearer   a.b.c', 'a.b.c'],
  // A text that is not a token is refused later, by the gate. Nothing of it is cut away here.
  ['Bearer a b', 'a b'],
  ['Bearer a, Bearer b', 'a, Bearer b'],
  ['Bearer a.b.c ', 'a.b.c '],
] as const

for (const [header, token] of TOKENS) {
  test(`the token of ${JSON.stringify(header)} is ${JSON.stringify(token)}`, () => {
    assert.equal(extractToken(requestWith(header), { schemes: BEARER }), token)
  })
}

const OTHERS = [
  ...['', 'Basic YWxpY2U6', 'DPoP a', 'a.b.c', 'Token a, Bearer b', ' Bearer a'],
  ...['Bearerx a', 'Bearer-x a', 'Bearera.b.c', 'bearers', 'Basic YTpi, Bearer '],
]

for (const header of OTHERS) {
  test(`${JSON.stringify(header)} names no bearer token`, () => {
    assert.equal(extractToken(requestWith(header), { schemes: BEARER }), null)
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
    assert.throws(() => extractToken(requestWith(header), { schemes: BEARER }), AuthError)
  })
}

const RAW_HEADERS = [
  [[], false],
  [['Authorization', 'Bearer a'], false],
  [['Host', 'x', 'authorization', 'Bearer a', 'Accept', '*/*'], false],
  [['Authorization', 'Bearer a', 'authorization', 'Bearer b'], true],
  [['AUTHORIZATION', 'Basic x', 'Accept', '*/*', 'Authorization', 'Bearer a'], true],
  // A value that reads like the name of the header is not one.
  [
    ['X-Name', 'authorization', 'Authorization', 'authorization', 'X-Other', 'authorization'],
    false,
  ],
  [['Authorizatiom', 'a', 'Authorization', 'Bearer a', 'authorizatiox', 'b'], false],
  [['authorization'], false],
] as const

for (const [rawHeaders, expected] of RAW_HEADERS) {
  test(`${JSON.stringify(rawHeaders)} ${expected ? 'repeats' : 'does not repeat'} the header`, () => {
    const ask = () => extractToken(requestWith('Bearer a', rawHeaders), { schemes: BEARER })
    if (expected) assert.throws(ask, refused('several Authorization headers'))
    else assert.equal(ask(), 'a')
  })
}

test('a made-up request without raw headers repeats no header', () => {
  assert.equal(extractToken(requestWith('Bearer a', undefined), { schemes: BEARER }), 'a')
})

test('a repeated header is refused, even if the function has given a token', () => {
  const request = requestWith(undefined, ['Authorization', 'a', 'authorization', 'b'])
  const ask = () => extractToken(request, { schemes: BEARER, tokenFrom: () => 'a.b.c' })
  assert.throws(ask, refused('several Authorization headers'))
})
