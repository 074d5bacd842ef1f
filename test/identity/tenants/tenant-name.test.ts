import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTenantName, MAX_TENANT_LENGTH } from '../../../lib/identity/tenants/tenant-name.ts'

test('every control character makes a name unusable, and no other character does', () => {
  for (let code = 0; code <= 0x2ff; code++) {
    const isControl = code <= 0x1f || (code >= 0x7f && code <= 0x9f)
    assert.equal(
      isTenantName(`a${String.fromCharCode(code)}b`),
      !isControl,
      `U+${code.toString(16)}`,
    )
  }
})

test('a name has 1 to 255 characters', () => {
  assert.equal(MAX_TENANT_LENGTH, 255)
  for (const [length, usable] of [
    [0, false],
    [1, true],
    [255, true],
    [256, false],
  ] as const) {
    assert.equal(isTenantName('a'.repeat(length)), usable)
  }
})

test('a value that is not a string is not a name', () => {
  for (const value of [undefined, null, 7, true, {}, ['a'], Object('a'), Symbol('a')]) {
    assert.equal(isTenantName(value), false)
  }
})
