import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INI_KEYS, optionNames, readIniText } from '../../lib/settings/ini-values.ts'

test('every option has an INI key, except those that only code can give', () => {
  const keyed = new Set([...INI_KEYS.auth.values(), ...INI_KEYS.tenants.values()])
  assert.deepEqual(
    optionNames().filter((name) => !keyed.has(name)),
    ['publicKeys', 'mapClaims', 'isRevoked', 'resolveTenant', 'tokenFrom'],
  )
})

test('only the spellings of a boolean are a boolean', () => {
  assert.equal(readIniText('dev_mode', 'devMode', 'On'), true)
  assert.equal(readIniText('dev_mode', 'devMode', 'nO'), false)
  assert.equal(readIniText('dev_mode', 'devMode', 'yes!'), 'yes!')
})

test('a text for an option of text stays as it is', () => {
  assert.equal(readIniText('realm', 'realm', 'a, b'), 'a, b')
  assert.equal(readIniText('realm', 'realm', '5'), '5')
  assert.equal(readIniText('uncovered', 'uncovered', 'no'), 'no')
})

test('an option of text or list is a list, even with one item', () => {
  assert.deepEqual(readIniText('issuer', 'issuer', 'a'), ['a'])
  assert.deepEqual(readIniText('ids', 'tenants', 'a\tb,c'), ['a', 'b', 'c'])
})

test('an address is not a list', () => {
  const url = 'https://a.test/?x=1,2'
  assert.equal(readIniText('tenant_url', 'tenants', url), url)
})

test('a number is written in plain digits', () => {
  assert.equal(readIniText('keys_timeout', 'keysTimeout', '0.5'), 0.5)
  assert.equal(readIniText('token_cache_size', 'tokenCacheSize', '0'), 0)
  assert.equal(readIniText('keys_timeout', 'keysTimeout', '1e3'), '1e3')
})
