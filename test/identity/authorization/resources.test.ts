import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { isResourceId, readResources } from '../../../lib/identity/authorization/resources.ts'
import { Unusable } from '../../../lib/platform/http/failure.ts'

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
    const read = readResources(answer)
    assert.equal(JSON.stringify(read), json)
    assert.notEqual(read, answer)
    assert.equal([read, ...Object.values(read)].every(Object.isFrozen), true)
  })
}

class Rights {
  acme = ['a:b']
}

const PLAIN = 'the answer: expected a plain object, found another one'

const BAD: [what: string, answer: unknown, problem: string][] = [
  ['undefined', undefined, 'the answer: expected an object or null, found undefined'],
  ['a function', () => ({}), 'the answer: expected an object or null, found function'],
  ['a list', [], PLAIN],
  ['an object of a class', new Rights(), PLAIN],
  ['a Map', new Map([['acme', ['a:b']]]), PLAIN],
  ['what it inherits', Object.create({ acme: ['a:b'] }), PLAIN],
  [
    'a list in a list',
    { acme: ['a:b', ['a:b']] },
    'resources of "acme", item 1: expected a string, found a list',
  ],
  [
    'one tenant of two malformed',
    { acme: ['a:b'], busy: undefined },
    'resources of "busy": expected a list of strings, found undefined',
  ],
  [
    'a hole',
    { ['a'.repeat(101)]: Array(1) },
    `resources of "${'a'.repeat(100)}", item 0: expected a string, found undefined`,
  ],
]

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

for (const [what, answer, problem] of BAD) {
  test(`an answer that is, or has, ${what} is of another shape, which is named`, () => {
    const shown = () => readResources(answer)
    assert.throws(shown, (error) => error instanceof Unusable && error.message === problem)
  })
}

test('an answer that cannot be looked at throws what it throws', () => {
  assert.throws(() => readResources(revoked()), TypeError)
})

test('an id is <name>:<action>, and further colons belong to the action', () => {
  for (const id of ['order:read', 'a:b', 'authz:superuser', 'urn:x:order:read', 'a::', '!:~']) {
    assert.equal(isResourceId(id), true, id)
  }
  for (const id of ['', ':', 'order', 'order:', ':read', '::', '*']) {
    assert.equal(isResourceId(id), false, id)
  }
})

test('an id has the characters of a scope token (RFC 6749 §3.3) and no others', () => {
  for (let code = 0; code <= 0xff; code++) {
    const character = String.fromCharCode(code)
    const isScope = code >= 0x21 && code <= 0x7e && character !== '"' && character !== '\\'
    assert.equal(isResourceId(`order:re${character}ad`), isScope, `U+${code.toString(16)}`)
    assert.equal(isResourceId(`ord${character}er:read`), isScope, `U+${code.toString(16)}`)
  }
})

test('a value that is not a string is not an id', () => {
  for (const value of [undefined, null, 7, {}, ['a:b'], Object('a:b')]) {
    assert.equal(isResourceId(value), false)
  }
})
