import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCompactJws } from '../../lib/tokens/compact-jws.ts'
import { JoseHeaders } from '../../lib/tokens/jose-header.ts'
import { TokenRefused } from '../../lib/tokens/token-refused.ts'
import { encode, partsOf } from '../helpers/tokens/forge.ts'
import { assertTokenRefused, goodToken, startProbe } from '../helpers/tokens/probe.ts'

const HEADERS = new JoseHeaders()
const MAX_LENGTH = 16_384

const [HEADER, PAYLOAD, SIGNATURE] = partsOf(goodToken())

test('a good token is taken apart, and the signing input is the text of the token', () => {
  const jws = parseCompactJws(`${HEADER}.${PAYLOAD}.${SIGNATURE}`, MAX_LENGTH, HEADERS)
  assert.deepEqual(jws.header, { alg: 'ES256', kid: 'probe', typ: 'at+jwt' })
  assert.equal(jws.signingInput, `${HEADER}.${PAYLOAD}`)
  assert.deepEqual(jws.payload.read(), JSON.parse(Buffer.from(PAYLOAD, 'base64url').toString()))
  assert.deepEqual(jws.signature, Buffer.from(SIGNATURE, 'base64url'))
})

test('a token of exactly maxTokenLength is read, and one with a letter more is not', () => {
  const token = `${HEADER}.${PAYLOAD}.${SIGNATURE}`
  assert.ok(parseCompactJws(token, token.length, HEADERS), 'accepted')
  assert.throws(() => parseCompactJws(token, token.length - 1, HEADERS), TokenRefused)
})

/** The letter of the same value with one unused bit set. */
function withPadBit(part: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return part.slice(0, -1) + alphabet[alphabet.indexOf(part.slice(-1)) + 1]
}

/** Of a length that leaves unused bits: the last group has two letters, or three. */
const HEADER_OF_TWO = encode('{"alg":"ES256","kid":"probe"}'.padEnd(31))
const HEADER_OF_THREE = encode('{"alg":"ES256","kid":"probe"}'.padEnd(32))

const SPELLINGS: [what: string, token: string][] = [
  ['nothing', ''],
  ['one part', 'abcd'],
  ['two parts', `${HEADER}.${PAYLOAD}`],
  ['an empty header', `.${PAYLOAD}.${SIGNATURE}`],
  ['an empty payload', `${HEADER}..${SIGNATURE}`],
  ['four parts', `${HEADER}.${PAYLOAD}.${SIGNATURE}.AAAA`],
  ['a dot at the end', `${HEADER}.${PAYLOAD}.${SIGNATURE}.`],
  ['a dot at the start', `.${HEADER}.${PAYLOAD}.${SIGNATURE}`],
  ['the five parts of a JWE', `${HEADER}.AAAA.AAAA.${PAYLOAD}.${SIGNATURE}`],
  ['many dots', '.'.repeat(16_000)],
  ['many parts', 'a.'.repeat(8_000)],
  ['only letters', 'a'.repeat(16_000)],
  ['padding after the signature', `${HEADER}.${PAYLOAD}.${SIGNATURE}==`],
  ['padding after the header', `${HEADER_OF_TWO}==.${PAYLOAD}.${SIGNATURE}`],
  ['padding after the payload', `${HEADER}.${PAYLOAD}=.${SIGNATURE}`],
  ['the standard alphabet', `${HEADER}.${PAYLOAD}.${'+/'.repeat(43)}`],
  [
    'a space in the signature',
    `${HEADER}.${PAYLOAD}.${SIGNATURE.slice(0, 4)} ${SIGNATURE.slice(4)}`,
  ],
  ['a space at the end', `${HEADER}.${PAYLOAD}.${SIGNATURE} `],
  ['a line feed at the end', `${HEADER}.${PAYLOAD}.${SIGNATURE}\n`],
  ['a tab in the payload', `${HEADER}.\t${PAYLOAD}.${SIGNATURE}`],
  ['a carriage return in the header', `\r${HEADER}.${PAYLOAD}.${SIGNATURE}`],
  ['a NUL', `${HEADER}.${PAYLOAD}.${SIGNATURE}\0`],
  ['letters that are not ASCII', `${HEADER}.${PAYLOAD}.${SIGNATURE}é`],
  ['a full-width dot', `${HEADER}\uff0e${PAYLOAD}.${SIGNATURE}`],
  ['a group of one letter in the header', `${HEADER_OF_TWO}AAA.${PAYLOAD}.${SIGNATURE}`],
  ['a group of one letter in the payload', `${HEADER}.AAAAA.${SIGNATURE}`],
  ['a group of one letter in the signature', `${HEADER}.${PAYLOAD}.${SIGNATURE}AAA`],
  ['pad bits set in a group of two', `${withPadBit(HEADER_OF_TWO)}.${PAYLOAD}.${SIGNATURE}`],
  ['pad bits set in a group of three', `${withPadBit(HEADER_OF_THREE)}.${PAYLOAD}.${SIGNATURE}`],
  ['pad bits set in the signature', `${HEADER}.${PAYLOAD}.${withPadBit(SIGNATURE)}`],
  ['a flattened JSON serialization', '{"payload":"e30","protected":"e30","signature":"AA"}'],
]

test('the spellings are good ones before they are bent', () => {
  assert.equal(HEADER_OF_TWO.length % 4, 2)
  assert.equal(HEADER_OF_THREE.length % 4, 3)
  assert.equal(SIGNATURE.length % 4, 2)
  for (const header of [HEADER_OF_TWO, HEADER_OF_THREE]) {
    assert.ok(parseCompactJws(`${header}.${PAYLOAD}.${SIGNATURE}`, MAX_LENGTH, HEADERS), 'accepted')
  }
})

for (const [what, token] of SPELLINGS) {
  test(`a token with ${what} is refused before any cryptography`, () => {
    assert.throws(() => parseCompactJws(token, MAX_LENGTH, HEADERS), TokenRefused)
  })
}

test('the log says of a token of less than three parts that it has not three', () => {
  for (const token of ['', 'abcd', HEADER, `${HEADER}.${PAYLOAD}`]) {
    const reason = 'not three parts'
    assert.throws(() => parseCompactJws(token, MAX_LENGTH, HEADERS), { reason })
  }
})

test('every other spelling of a token is refused by the whole application', async (t) => {
  const probe = await startProbe(t)
  assert.equal((await probe.ask(`${HEADER}.${PAYLOAD}.${SIGNATURE}`)).statusCode, 200)
  for (const [what, token] of SPELLINGS) assertTokenRefused(await probe.ask(token), what)
  assert.equal(probe.handled.count, 1)
})

test('a token over maxTokenLength is refused by the whole application', async (t) => {
  const probe = await startProbe(t)
  const padding = 'x'.repeat(13_000)
  const longest = goodToken({ padding })
  assert.equal(longest.length > 16_384, true)
  assertTokenRefused(await probe.ask(longest), 'over the default')
  const short = await startProbe(t, { maxTokenLength: 300 })
  assertTokenRefused(await short.ask(goodToken()), 'over a configured one')
  const long = await startProbe(t, { maxTokenLength: 100_000 })
  assert.equal((await long.ask(longest)).statusCode, 200)
})

test('an empty signature is none, and refused by the whole application', async (t) => {
  const token = `${HEADER}.${PAYLOAD}.`
  assert.equal(parseCompactJws(token, MAX_LENGTH, HEADERS).signature.length, 0)
  const probe = await startProbe(t)
  assertTokenRefused(await probe.ask(token), 'an empty signature')
})
