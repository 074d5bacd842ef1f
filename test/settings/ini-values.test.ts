import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INI_KEYS, ISSUER_KEYS, optionNames, readIniText } from '../../lib/settings/ini-values.ts'
import { Rules } from '../../lib/settings/issuer-rules.ts'
import { Options } from '../../lib/settings/options.ts'

test('every option has an INI key, except those that only code can give', () => {
  const keyed = new Set([...INI_KEYS.auth.values(), ...INI_KEYS.tenants.values()])
  assert.deepEqual(
    optionNames().filter((name) => !keyed.has(name)),
    [
      'publicKeys',
      'issuers',
      'issuersMax',
      'allowPrivateIssuers',
      'tokenFrom',
      'opaqueToken',
      'mapClaims',
      'isRevoked',
      'resourcesOf',
      'resolveTenant',
    ],
  )
})

test('every member of an issuer has a key, but its name and those that only code can give', () => {
  assert.deepEqual(
    [...ISSUER_KEYS],
    [
      ['issuer', 'issuer'],
      ['tenants', 'tenants'],
      ['audience', 'audience'],
      ['public_keys_url', 'publicKeysUrl'],
      ['algorithms', 'algorithms'],
      ['token_types', 'tokenTypes'],
    ],
  )
})

test('only what spells a boolean is one', () => {
  assert.equal(readIniText(Options.properties.devMode, 'On'), true)
  assert.equal(readIniText(Options.properties.devMode, 'nO'), false)
  assert.equal(readIniText(Options.properties.devMode, 'yes!'), 'yes!')
})

test('a text for an option of text stays as it is', () => {
  assert.equal(readIniText(Options.properties.realm, 'a, b'), 'a, b')
  assert.equal(readIniText(Options.properties.realm, '5'), '5')
  assert.equal(readIniText(Options.properties.uncovered, 'no'), 'no')
})

test('an option of text or list is a list, even of one', () => {
  assert.deepEqual(readIniText(Options.properties.issuer, 'a'), ['a'])
  assert.deepEqual(readIniText(Options.properties.tenants, 'a\tb,c'), ['a', 'b', 'c'])
})

test('a word that a list may stand for stays as it is', () => {
  assert.equal(readIniText(Rules.properties.tenants, '*'), '*')
  assert.deepEqual(readIniText(Rules.properties.tenants, '*, a'), ['*', 'a'])
  assert.deepEqual(readIniText(Rules.properties.tenants, 'a'), ['a'])
})

test('a number is written in plain digits', () => {
  assert.equal(readIniText(Options.properties.keysTimeout, '0.5'), 0.5)
  assert.equal(readIniText(Options.properties.tokenCacheSize, '0'), 0)
  assert.equal(readIniText(Options.properties.keysTimeout, '1e3'), '1e3')
})
