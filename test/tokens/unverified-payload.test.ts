import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnverifiedPayload } from '../../lib/tokens/compact-jws.ts'

const payload = (json: string) => new UnverifiedPayload(Buffer.from(json))

/** An object with one more member, so that it has that many bytes. */
const sized = (bytes: number) => `{"iss":"a","x":"${'x'.repeat(bytes - 18)}"}`

/** An object with that many brackets and commas. */
const marked = (marks: number) => `{"iss":"a","x":[${','.repeat(marks - 3)}]}`

test('a payload that is cheap to read is read once, unless somebody has got its claims', () => {
  const read = payload('{"iss":"a","sub":"b"}')
  const { claims } = read
  assert.deepEqual(claims, { iss: 'a', sub: 'b' })
  assert.equal(read.read(), claims)
})

test('each reader of the claims gets its own, and what it does to them nobody else sees', () => {
  for (const json of ['{"iss":"a","sub":"b"}', sized(5000)]) {
    const read = payload(json)
    const first = read.read()
    first['iss'] = 'changed'
    delete first['x']
    assert.equal(read.iss, 'a')
    assert.deepEqual(read.claims?.['iss'], json.length > 4096 ? undefined : 'a')
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
  assert.equal(payload(sized(4096)).claims?.['iss'], 'a')
  assert.equal(payload(sized(4097)).claims, undefined)
  const list = JSON.stringify({ iss: 'a', x: Array.from({ length: 62 }, () => 0) })
  assert.equal(payload(list).claims?.['iss'], 'a')
  assert.equal(payload(list.replace('0', '0,0')).claims, undefined)
})

test('a payload that is dear to read tells its issuer, and is no JSON until it is read', () => {
  const dear = payload(marked(65))
  assert.equal(dear.iss, 'a')
  assert.throws(() => dear.read(), { reason: 'a part is not JSON' })
  assert.deepEqual(Object.keys(payload(sized(5000)).read()), ['iss', 'x'])
})

test('of two issuers the last one counts, as in the claims', () => {
  const twice = payload('{"iss":"a","iss":"b"}')
  assert.deepEqual([twice.iss, twice.claims?.['iss']], ['b', 'b'])
})

test('an issuer that is no string, or not its own, is none', () => {
  for (const json of ['{}', '{"iss":1}', '{"iss":["a"]}', '{"__proto__":{"iss":"a"}}']) {
    assert.equal(payload(json).iss, undefined, json)
  }
})
