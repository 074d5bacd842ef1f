import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { readResources } from '../../lib/rights/read-resources.ts'

const GOOD: [what: string, answer: unknown, json: string][] = [
  ['no tenant', {}, '{}'],
  ['a tenant without ids', { acme: [] }, '{"acme":[]}'],
  ['ids twice', { acme: ['a:b', 'a:b'] }, '{"acme":["a:b","a:b"]}'],
  ['a name that objects have', JSON.parse('{"__proto__":["a:b"]}'), '{"__proto__":["a:b"]}'],
  ['no prototype', Object.assign(Object.create(null), { acme: ['a:b'] }), '{"acme":["a:b"]}'],
  ['the prototype of another realm', runInNewContext('({ acme: ["a:b"] })'), '{"acme":["a:b"]}'],
]

for (const [what, answer, json] of GOOD) {
  test(`an object with ${what} is copied and frozen`, () => {
    const read = readResources(answer) ?? assert.fail('it is read')
    assert.equal(JSON.stringify(read), json)
    assert.notEqual(read, answer)
    assert.equal([read, ...Object.values(read)].every(Object.isFrozen), true)
  })
}

class Rights {
  acme = ['a:b']
}

const BAD: [what: string, answer: unknown][] = [
  ['undefined', undefined],
  ['a function', () => ({})],
  ['a list', []],
  ['an object of a class', new Rights()],
  ['a Map', new Map([['acme', ['a:b']]])],
  ['what it inherits', Object.create({ acme: ['a:b'] })],
  ['a list in a list', { acme: [['a:b']] }],
  ['one tenant of two malformed', { acme: ['a:b'], busy: undefined }],
  ['a hole', { acme: Array(1) }],
  ['a proxy that is revoked', revoked()],
]

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

for (const [what, answer] of BAD) {
  test(`an answer that is, or has, ${what} is of another shape`, () => {
    assert.equal(readResources(answer), undefined)
  })
}
