import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJwt, JoseHeaders, normalizeTokenType } from '../../../lib/identity/jwt/compact-jws.ts'
import { checkHeader, type HeaderRules } from '../../../lib/identity/jwt/verify.ts'
import { usedHeap } from '../../helpers/processes/used-heap.ts'
import { encode, forge, type Part } from '../../helpers/tokens/forge.ts'
import {
  assertTokenRefused,
  goodClaims,
  goodToken,
  KEY,
  startProbe,
} from '../../helpers/tokens/probe.ts'

const HEADER = encode({ alg: 'ES256' })

const JWTS: [what: string, token: string][] = [
  ['a good one', goodToken()],
  ['with an alg of another type', `${encode({ alg: 5 })}.a.b`],
  ['with alg none', `${encode({ alg: 'none' })}..`],
  ['with a padded header', `${encode('{"alg":"ES256"}  ')}=.a.b`],
  ['in the standard alphabet', `${Buffer.from('{"alg":"??>>"}').toString('base64')}.a.b`],
  ['with a byte order mark', `${encode('\ufeff{"alg":"ES256"}')}.a.b`],
  ['with an escaped alg', `${encode('{"\\u0061lg":"ES256"}')}.a.b`],
  ['with a header that is too long', `${'a'.repeat(2049)}.a.b`],
]

for (const [what, token] of JWTS) {
  test(`a JWT is one, good or bad: ${what}`, () => assert.equal(isJwt(token), true))
}

const OPAQUE: [what: string, token: string][] = [
  ['nothing', ''],
  ['letters', 'abc'],
  ['an API key', 'key_0123456789.abcdef'],
  ['two parts', `${HEADER}.a`],
  ['four parts', `${HEADER}.a.b.c`],
  ['a JWE of five parts', `${HEADER}.a.b.c.d`],
  ['three parts, and no JSON first', 'ya29.a.b'],
  ['three parts, and no JSON of the most letters first', `${'a'.repeat(2048)}.a.b`],
  ['three parts, and no object first', `${encode('"alg"')}.a.b`],
  ['three parts, and a list first', `${encode(['alg'])}.a.b`],
  ['three parts, and no alg first', `${encode({ kid: 'a' })}.a.b`],
  ['an alg of another object', `${encode('{"__proto__":{"alg":"ES256"}}')}.a.b`],
]

for (const [what, token] of OPAQUE) {
  test(`what is no JWT is opaque: ${what}`, () => assert.equal(isJwt(token), false))
}

test('an alg that other code has given to all objects is none', (t) => {
  Object.defineProperty(Object.prototype, 'alg', { value: 'ES256', configurable: true })
  t.after(() => Reflect.deleteProperty(Object.prototype, 'alg'))
  assert.equal(isJwt(`${encode({ kid: 'a' })}.a.b`), false)
})

const RULES: HeaderRules = {
  algorithms: new Set(['ES256', 'RS256']),
  tokenTypes: new Set(['application/jwt', 'application/at+jwt', undefined]),
}

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
  ['2050 characters', `{${ES256},"x":"${'x'.repeat(1501)}"}`],
  ['65 lists, objects and members', `{${ES256},"x":${'['.repeat(62)}${']'.repeat(62)}}`],
  ['many objects', `{${ES256},"x":[${'{"a":0},'.repeat(64)}{}]}`],
  ['many members', `{${ES256}${',"a":0'.repeat(64)}}`],
]

test('the whole application refuses a bad header, even if it is well signed', async (t) => {
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
  ['unknown parameters', { 'x-own': { deep: [1] }, constructor: 1 }],
  ['2048 characters', `{${ES256},"x":"${'x'.repeat(1500)}"}`],
  ['64 lists, objects and members', `{${ES256},"x":${'['.repeat(61)}${']'.repeat(61)}}`],
]

test('the whole application accepts a header that the rules allow', async (t) => {
  const probe = await startProbe(t, { maxTokenLength: 30_000 })
  for (const [what, header] of ALLOWED_HEADERS) {
    const response = await probe.ask(forge(KEY, { header, payload: goodClaims() }))
    assert.equal(response.statusCode, 200, what)
  }
})

test('a header that is too long is refused before it is decoded', () => {
  const read = (part: string) => () => new JoseHeaders().read(part)
  // Not base64url either, which is found out only by decoding it.
  assert.throws(read('='.repeat(2049)), { reason: 'the header is too long' })
  assert.throws(read('='.repeat(2048)), { reason: 'a part is not base64url' })
})

test('a header of too many members is refused before it is parsed', () => {
  const read = (text: string) => () => new JoseHeaders().read(encode(text))
  for (const letter of ['[', '{', ',']) {
    assert.throws(read(letter.repeat(65)), { reason: 'the header has too many members' }, letter)
    assert.throws(read(letter.repeat(64)), { reason: 'a part is not JSON' }, letter)
  }
})

test('tokenTypes allows only the types that it names', async (t) => {
  const probe = await startProbe(t, { tokenTypes: ['at+jwt'] })
  assert.equal((await probe.ask(goodToken({}, { typ: 'AT+jwt' }))).statusCode, 200)
  for (const typ of ['JWT', undefined]) {
    assertTokenRefused(await probe.ask(goodToken({}, { typ })), String(typ))
  }
})

const partOf = (kid: string): string => encode({ alg: 'ES256', kid })

test('a header that comes again is not read again, and nobody can change it', () => {
  const headers = new JoseHeaders()
  const header = headers.read(partOf('a'))
  assert.deepEqual(header, { alg: 'ES256', kid: 'a', typ: undefined, type: undefined })
  assert.equal(headers.read(partOf('a')), header)
  assert.equal(Object.isFrozen(header), true)
  assert.equal(headers.read(partOf('b')).kid, 'b')
})

test('a header that is kept is judged by the rules of each issuer anew', () => {
  const header = new JoseHeaders().read(partOf('a'))
  checkHeader(header, RULES)
  const strict = { ...RULES, algorithms: new Set(['RS256']) }
  assert.throws(() => checkHeader(header, strict), { reason: 'the algorithm is not allowed' })
})

for (const name of ['crit', 'b64']) {
  test(`a ${name} that other code has given to all objects is none of the header`, (t) => {
    Object.defineProperty(Object.prototype, name, { value: [], configurable: true })
    t.after(() => Reflect.deleteProperty(Object.prototype, name))
    assert.equal(new JoseHeaders().read(partOf('a')).kid, 'a')
  })
}

test('of headers that are all different no more than 100 are kept', () => {
  const headers = new JoseHeaders()
  const first = headers.read(partOf('first'))
  for (let i = 1; i < 100; i++) headers.read(partOf(String(i)))
  assert.equal(headers.read(partOf('first')), first)
  headers.read(partOf('one too many'))
  assert.notEqual(headers.read(partOf('first')), first)
  assert.deepEqual(headers.read(partOf('first')), first)
})

test('a header of more than 512 characters is read anew each time', () => {
  const headers = new JoseHeaders()
  const [longest, long] = [partOf('a'.repeat(360)), partOf('a'.repeat(361))]
  assert.deepEqual([longest.length, long.length], [512, 514])
  assert.equal(headers.read(longest), headers.read(longest))
  assert.notEqual(headers.read(long), headers.read(long))
})

test('a header that is kept does not keep the token that it came with', () => {
  const headers = new JoseHeaders()
  const before = usedHeap()
  for (let i = 0; i < 50; i++) {
    const part = partOf(String(i))
    // In one piece of memory, as it comes from the network.
    const token = Buffer.from(`${part}.${'a'.repeat(1_000_000)}`).toString('latin1')
    headers.read(token.slice(0, part.length))
  }
  const grown = usedHeap() - before
  assert.ok(grown < 10_000_000, `grown by ${grown} bytes`)
})

const TYPES = [
  ['JWT', 'application/jwt'],
  ['at+jwt', 'application/at+jwt'],
  ['application/at+JWT', 'application/at+jwt'],
  ['text/JWT', 'text/jwt'],
  ['', 'application/'],
  ['\u212aWT/JWT', '\u212aWT/JWT'],
] as const

for (const [type, normalized] of TYPES) {
  test(`the token type ${JSON.stringify(type)} is ${normalized}`, () => {
    assert.equal(normalizeTokenType(type), normalized)
  })
}
