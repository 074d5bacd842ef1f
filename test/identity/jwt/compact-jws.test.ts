import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthError } from '../../../lib/errors.ts'
import {
  JoseHeaders,
  parseCompactJws,
  UnverifiedPayload,
} from '../../../lib/identity/jwt/compact-jws.ts'
import { encode, partsOf } from '../../helpers/tokens/forge.ts'
import { assertTokenRefused, goodToken, startProbe } from '../../helpers/tokens/probe.ts'

const HEADERS = new JoseHeaders()
const MAX_LENGTH = 16_384

const [HEADER, PAYLOAD, SIGNATURE] = partsOf(goodToken())

test('a token of exactly maxTokenLength is read, and one with a letter more is not', () => {
  const token = `${HEADER}.${PAYLOAD}.${SIGNATURE}`
  assert.ok(parseCompactJws(token, token.length, HEADERS), 'accepted')
  assert.throws(() => parseCompactJws(token, token.length - 1, HEADERS), AuthError)
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

const payload = (json: string) => new UnverifiedPayload(Buffer.from(json))

/** An object with one more member, so that it has that many bytes. */
const sized = (bytes: number) => `{"iss":"a","x":"${'x'.repeat(bytes - 18)}"}`

/** An object with that many brackets and commas. */
const marked = (marks: number) => `{"iss":"a","x":[${','.repeat(marks - 3)}]}`

test('a payload that is cheap to read is read once, unless somebody has got its claims', (t) => {
  const parse = t.mock.method(JSON, 'parse')
  const read = payload('{"iss":"a","sub":"b"}')
  const { claims } = read
  assert.deepEqual([claims?.iss, claims?.sub], ['a', 'b'])
  assert.equal(read.claims, claims)
  assert.deepEqual(read.read(), { iss: 'a', sub: 'b' })
  assert.equal(parse.mock.callCount(), 1)
  assert.deepEqual(read.claims, claims)
  assert.equal(parse.mock.callCount(), 2)
})

test('each reader of the claims gets its own, and what it does to them nobody else sees', () => {
  for (const json of ['{"iss":"a","sub":"b"}', sized(5000)]) {
    const read = payload(json)
    const first = read.read()
    first['iss'] = 'changed'
    delete first['x']
    assert.equal(read.iss, 'a')
    assert.deepEqual(read.claims?.iss, json.length > 4096 ? undefined : 'a')
    const second = read.read()
    assert.equal(second['iss'], 'a')
    assert.notEqual(read.read(), second)
  }
})

test('what is cheap and no JSON object is refused at once', () => {
  assert.throws(() => payload('no JSON'), { reason: 'a part is not JSON' })
  assert.throws(() => payload('[]'), { reason: 'a part is not a JSON object' })
  assert.throws(() => new UnverifiedPayload(Buffer.of(0xff)), { reason: 'a part is not UTF-8' })
})

test('up to 4096 bytes and 64 marks are cheap, and not one more', () => {
  assert.equal(payload(sized(4096)).claims?.iss, 'a')
  assert.equal(payload(sized(4097)).claims, undefined)
  const list = JSON.stringify({ iss: 'a', x: Array.from({ length: 62 }, () => 0) })
  assert.equal(payload(list).claims?.iss, 'a')
  assert.equal(payload(list.replace('0', '0,0')).claims, undefined)
})

test('a payload that is dear to read names its issuer, and is no JSON until it is read', () => {
  const dear = payload(marked(65))
  assert.equal(dear.iss, 'a')
  assert.throws(() => dear.read(), { reason: 'a part is not JSON' })
  assert.deepEqual(Object.keys(payload(sized(5000)).read()), ['iss', 'x'])
})

test('of two issuers the last one counts, as in the claims', () => {
  const twice = payload('{"iss":"a","iss":"b"}')
  assert.deepEqual([twice.iss, twice.claims?.iss], ['b', 'b'])
})

test('an issuer that is no string, or not its own, is none', () => {
  for (const json of ['{}', '{"iss":1}', '{"iss":["a"]}', '{"__proto__":{"iss":"a"}}']) {
    assert.equal(payload(json).iss, undefined, json)
  }
})
