import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isResourceId } from '../../lib/rights/resource-id.ts'

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
