import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decodeObject,
  type HeaderRules,
  normalizeTokenType,
  parseCompactJws,
} from '../../lib/identity/compact-jws.ts'
import { TokenRefused } from '../../lib/identity/token-refused.ts'
import { encode, forge, type Part, partsOf } from '../helpers/forge.ts'
import { assertTokenRefused, goodClaims, goodToken, KEY, startProbe } from '../helpers/probe.ts'

const RULES: HeaderRules = {
  algorithms: new Set(['ES256', 'RS256']),
  tokenTypes: new Set(['application/jwt', 'application/at+jwt', undefined]),
}
const MAX_LENGTH = 16_384

const [HEADER, PAYLOAD, SIGNATURE] = partsOf(goodToken())

test('a good token is taken apart, and the signing input is as it stands in the token', () => {
  const jws = parseCompactJws(`${HEADER}.${PAYLOAD}.${SIGNATURE}`, MAX_LENGTH, RULES)
  assert.deepEqual(jws, {
    header: { alg: 'ES256', kid: 'probe' },
    signingInput: `${HEADER}.${PAYLOAD}`,
    payload: PAYLOAD,
    signature: SIGNATURE,
  })
})

test('a token of exactly maxTokenLength is read, and one letter more is not', () => {
  const token = `${HEADER}.${PAYLOAD}.${SIGNATURE}`
  assert.ok(parseCompactJws(token, token.length, RULES))
  assert.throws(() => parseCompactJws(token, token.length - 1, RULES), TokenRefused)
})

/** The letter of the same value but for one unused bit. */
function withPadBit(part: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return part.slice(0, -1) + alphabet[alphabet.indexOf(part.slice(-1)) + 1]
}

/** Of a length that leaves unused bits: two letters, or three, in the last group. */
const HEADER_OF_TWO = encode('{"alg":"ES256","kid":"probe"}'.padEnd(31))
const HEADER_OF_THREE = encode('{"alg":"ES256","kid":"probe"}'.padEnd(32))

const SPELLINGS: [what: string, token: string][] = [
  ['nothing', ''],
  ['one part', 'abcd'],
  ['two parts', `${HEADER}.${PAYLOAD}`],
  ['an empty header', `.${PAYLOAD}.${SIGNATURE}`],
  ['an empty payload', `${HEADER}..${SIGNATURE}`],
  ['an empty signature', `${HEADER}.${PAYLOAD}.`],
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

test('the spellings to bend are good ones before they are bent', () => {
  assert.equal(HEADER_OF_TWO.length % 4, 2)
  assert.equal(HEADER_OF_THREE.length % 4, 3)
  assert.equal(SIGNATURE.length % 4, 2)
  for (const header of [HEADER_OF_TWO, HEADER_OF_THREE]) {
    assert.ok(parseCompactJws(`${header}.${PAYLOAD}.${SIGNATURE}`, MAX_LENGTH, RULES))
  }
})

for (const [what, token] of SPELLINGS) {
  test(`a token with ${what} is refused before any cryptography`, () => {
    assert.throws(() => parseCompactJws(token, MAX_LENGTH, RULES), TokenRefused)
  })
}

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
  assert.ok(longest.length > 16_384)
  assertTokenRefused(await probe.ask(longest), 'over the default')
  const short = await startProbe(t, { maxTokenLength: 300 })
  assertTokenRefused(await short.ask(goodToken()), 'over a configured one')
  const long = await startProbe(t, { maxTokenLength: 100_000 })
  assert.equal((await long.ask(longest)).statusCode, 200)
})

const ES256 = '"alg":"ES256","kid":"probe"'

const HEADERS: [what: string, header: Part][] = [
  ...['none', 'None', 'NONE', 'nOnE', 'nonE', '', ' none', 'none\0'].map((alg): [string, Part] => [
    `alg ${JSON.stringify(alg)}`,
    { alg },
  ]),
  ...[
    'HS256',
    'HS384',
    'HS512',
    'es256',
    'ES256 ',
    'ES256K',
    'RSA-OAEP',
    'dir',
    'X'.repeat(4000),
  ].map((alg): [string, Part] => [`alg ${alg.slice(0, 20)}`, { alg }]),
  ...['__proto__', 'constructor', 'toString'].map((alg): [string, Part] => [`alg ${alg}`, { alg }]),
  ...[null, 1, true, ['ES256'], { ES256: 1 }].map((alg): [string, Part] => [
    `alg ${JSON.stringify(alg)}`,
    { alg },
  ]),
  ['no alg', '{"kid":"probe"}'],
  ['alg under __proto__', '{"kid":"probe","__proto__":{"alg":"ES256"}}'],
  ['crit of an unknown name', { crit: ['exp'], exp: 1 }],
  ['crit with b64', { crit: ['b64'], b64: false }],
  ['an empty crit', { crit: [] }],
  ...[null, 'exp', {}, false].map((crit): [string, Part] => [
    `crit ${JSON.stringify(crit)}`,
    { crit },
  ]),
  ['b64 false', { b64: false }],
  ['b64 true', { b64: true }],
  ...[null, 1, 0, false, {}, [], ['probe']].map((kid): [string, Part] => [
    `kid ${JSON.stringify(kid)}`,
    { kid },
  ]),
  ...[
    'id_token',
    'logout+jwt',
    'dpop+jwt',
    'JWS',
    'jwt ',
    '',
    'text/jwt',
    'jwt;v=1',
    'at+jwt\0',
  ].map((typ): [string, Part] => [`typ ${JSON.stringify(typ)}`, { typ }]),
  ...[null, 1, true, ['JWT'], {}].map((typ): [string, Part] => [
    `typ ${JSON.stringify(typ)}`,
    { typ },
  ]),
  ['a header that is null', 'null'],
  ['a header that is a list', `[{${ES256}}]`],
  ['a header that is a string', '"ES256"'],
  ['a header that is a number', '1e999'],
  ['a header that is empty text', ' '],
  ['a header that breaks off', `{${ES256}`],
  ['a header with text behind', `{${ES256}}{}`],
  ['a header with a comment', `{${ES256}/**/}`],
  ['a byte order mark', Buffer.from(`\ufeff{${ES256}}`)],
  ['UTF-16', Buffer.from(`{${ES256}}`, 'utf16le')],
  ['bytes that are no UTF-8', Buffer.from(`{${ES256},"x":"\xff\xfe"}`, 'latin1')],
  ['an overlong encoding', Buffer.from(`{${ES256},"x":"\xc0\xaf"}`, 'latin1')],
  ['an encoded surrogate', Buffer.from(`{${ES256},"x":"\xed\xa0\x80"}`, 'latin1')],
  ['a second alg that is none', `{${ES256},"alg":"none"}`],
]

for (const [what, header] of HEADERS) {
  test(`a header with ${what} is refused before any cryptography`, () => {
    const token = forge(KEY, { header, payload: goodClaims() })
    assert.throws(() => parseCompactJws(token, MAX_LENGTH, RULES), TokenRefused)
  })
}

test('a bad header is refused by the whole application, however well it is signed', async (t) => {
  const probe = await startProbe(t)
  for (const [what, header] of HEADERS) {
    const response = await probe.ask(forge(KEY, { header, payload: goodClaims() }))
    assertTokenRefused(response, what)
  }
  assert.equal(probe.handled.count, 0)
})

const ALLOWED_HEADERS: [what: string, header: Part][] = [
  ...['JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt', 'Application/JWT'].map(
    (typ): [string, Part] => [`typ ${typ}`, { typ }],
  ),
  ['no typ', { typ: undefined }],
  ['no kid, where one key fits', { kid: undefined }],
  ['a first alg that is none and a last one that is allowed', `{"alg":"none",${ES256}}`],
  ['white space in the JSON', ` { "alg" : "ES256" , "kid" : "probe" }\n`],
  ['parameters that nobody knows', { 'x-own': { deep: [1] }, constructor: 1 }],
  ['7 000 levels', `{${ES256},"x":${'['.repeat(5000)}${']'.repeat(5000)}}`],
]

test('a header that the rules allow is accepted by the whole application', async (t) => {
  const probe = await startProbe(t, { maxTokenLength: 30_000 })
  for (const [what, header] of ALLOWED_HEADERS) {
    const response = await probe.ask(forge(KEY, { header, payload: goodClaims() }))
    assert.equal(response.statusCode, 200, what)
  }
})

test('tokenTypes leaves only the types that it names', async (t) => {
  const probe = await startProbe(t, { tokenTypes: ['at+jwt'] })
  assert.equal((await probe.ask(goodToken({}, { typ: 'AT+jwt' }))).statusCode, 200)
  for (const typ of ['JWT', undefined]) {
    assertTokenRefused(await probe.ask(goodToken({}, { typ })), String(typ))
  }
})

const TYPES = [
  ['JWT', 'application/jwt'],
  ['at+jwt', 'application/at+jwt'],
  ['application/at+JWT', 'application/at+jwt'],
  ['text/JWT', 'text/jwt'],
  ['', 'application/'],
] as const

for (const [type, normalized] of TYPES) {
  test(`the token type ${JSON.stringify(type)} is ${normalized}`, () => {
    assert.equal(normalizeTokenType(type), normalized)
  })
}

test('a part that is a JSON object is decoded, its own __proto__ as an ordinary member', () => {
  const value = decodeObject(encode('{"__proto__":{"sub":"mallory"},"a":1,"a":2}'))
  assert.deepEqual(Object.keys(value), ['__proto__', 'a'])
  assert.equal(value['a'], 2)
  assert.equal(value['sub'], undefined)
})
