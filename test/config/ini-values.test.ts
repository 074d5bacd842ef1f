import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { INI_KEYS, ISSUER_KEYS } from '../../lib/config/ini-values.ts'
import { loadSettings } from '../../lib/config/load-settings.ts'
import { namesOf } from '../../lib/config/option-reader.ts'
import { Options } from '../../lib/config/options.ts'
import { configError } from '../helpers/app/config-error.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

test('every option has an INI key, except those that only code can give', () => {
  const keyed = new Set([...INI_KEYS.auth.values(), ...INI_KEYS.tenants.values()])
  assert.deepEqual(
    namesOf(Options.properties).filter((name) => !keyed.has(name)),
    [
      'publicKeys',
      'issuers',
      'issuersMax',
      'allowPrivateIssuers',
      'proofSeen',
      'clientCertificate',
      'tokenFrom',
      'opaqueToken',
      'mapClaims',
      'isRevoked',
      'implies',
      'resourcesOf',
      'resolveTenant',
      'checks',
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

const folder = tempFolder()

const AUTH = '[auth]\nissuer = https://a.test\n'

for (const [text, place] of [
  [`${AUTH}issuers = https://b.test`, 'issuers: expected a section [auth.NAME] for each issuer'],
  [`${AUTH}tenants = acme`, 'tenants: expected ids or tenant_url in [tenants]'],
  [`${AUTH}implies = menu:read`, 'implies: expected a section [implies]'],
  [`${AUTH}opaque_token = x`, 'opaque_token: expected it in code'],
  [`${AUTH}tenant_url = https://a.test`, 'tenant_url: expected it in [tenants]'],
  [`${AUTH}suspended = acme`, 'suspended: expected it in [tenants]'],
  ['[auth.acme]\nids = acme', 'ids: expected it in [tenants]'],
  ['[auth.acme]\nimplies = menu:read', 'implies: expected a section [implies]'],
  ['[tenants]\ntenants = acme', 'tenants: expected ids or tenant_url in [tenants]'],
  ['[auth.acme]\nmap_claims = x', 'map_claims: expected it in code'],
  ['[auth.acme]\nclock_tolerance = 9', 'clock_tolerance: expected it in [auth]'],
  ['[tenants]\ntenants_max_age = 9', 'tenants_max_age: expected it in [auth]'],
] as const) {
  test(`the place of an option that stands elsewhere is named: ${text.split('\n').at(-1)}`, () => {
    refuses(`${text}\n`, `${place}, found "`)
  })
}

const ACME = '[auth.acme]\nissuer = https://a.test\ntenants = acme, acme-test\naudience = api\n'

function entriesOf(text: string, options: object = {}) {
  const { issuers } = loadSettings({ configFile: folder.write(text), ...options })
  assert.ok(typeof issuers !== 'function', 'a list')
  return issuers
}

function refuses(text: string, ...parts: (string | RegExp)[]): void {
  const configFile = folder.write(text)
  assert.throws(() => loadSettings({ configFile }), configError(...parts, configFile))
}

describe('a section [auth.NAME]', () => {
  test('is an issuer of that name, with all that a file can say', () => {
    const [entry, ...others] = entriesOf(`[auth.acme.1]
      issuer = https://a.test/realms/staff
      audience = lunch, lunch-admin
      tenants = acme acme-test
      public_keys_url = https://keys.a.test/
      algorithms = ES256
      token_types = at+jwt`)
    assert.deepEqual(others, [])
    assert.deepEqual(entry, {
      name: 'acme.1',
      issuer: ['https://a.test/realms/staff'],
      tenants: ['acme', 'acme-test'],
      audience: ['lunch', 'lunch-admin'],
      publicKeys: undefined,
      keySet: undefined,
      publicKeysUrl: 'https://keys.a.test/',
      algorithms: ['ES256'],
      tokenTypes: ['at+jwt'],
      mapClaims: undefined,
      resourcesOf: undefined,
    })
  })

  test('may serve every tenant', () => {
    const [entry] = entriesOf(ACME.replace('acme, acme-test', '*'))
    assert.equal(entry?.tenants, '*')
  })

  test('stands beside others and beside [auth], which holds the options for all', () => {
    const entries = entriesOf(
      `[auth]\naudience = lunch\nalgorithms = RS256\n${ACME}algorithms = ES256\n[auth.b]\nissuer = https://b.test\ntenants = b\n`,
    )
    assert.deepEqual(
      entries.map(({ name, audience, algorithms }) => [name, audience, algorithms]),
      [
        ['acme', ['api'], ['ES256']],
        ['b', ['lunch'], ['RS256']],
      ],
    )
  })

  test('is enough of ours for a file', () => {
    assert.equal(entriesOf(ACME).length, 1)
    const { settings, given } = loadSettings({ configFile: folder.write(ACME) })
    assert.deepEqual([...given], ['issuers'])
    assert.equal(Array.isArray(settings.issuers), true)
  })

  test('falls back to what code says for all', () => {
    const mapClaims = () => ({ sub: 'a' })
    const [entry] = entriesOf(ACME, { mapClaims, audience: 'other' })
    assert.equal(entry?.mapClaims, mapClaims)
    assert.deepEqual(entry?.audience, ['api'])
  })

  test('gives way to issuers in code, and must be right all the same', () => {
    const issuers = [{ issuer: 'https://b.test', tenants: '*', audience: 'b' } as const]
    const [entry] = entriesOf(ACME, { issuers })
    assert.equal(entry?.name, 'b.test')
    const find = () => null
    const configFile = folder.write(ACME)
    assert.equal(loadSettings({ configFile, issuers: find }).issuers, find)
    const bad = folder.write('[auth.acme]\nissuer = https://a.test\naudience = a\n')
    const missing = configError('[auth.acme] tenants: ', `${bad}, line 1`)
    assert.throws(() => loadSettings({ configFile: bad, issuers: find }), missing)
    assert.throws(() => loadSettings({ configFile: bad, issuers }), missing)
  })

  for (const [key, line] of [
    ['tenant', 'tenant = acme'],
    ['Audience', 'Audience = a'],
    ['publicKeysUrl', 'publicKeysUrl = https://a.test/keys'],
    ['public_keys', 'public_keys = {}'],
    ['map_claims', 'map_claims = a'],
    ['name', 'name = a'],
    ['realm', 'realm = a'],
    ['__proto__', '__proto__ = a'],
  ] as const) {
    test(`refuses the key ${key}`, () => {
      refuses(`${ACME}${line}\n`, `${key}: expected `, ', found "', 'line 5')
    })
  }

  test('shows the nearest key', () => {
    refuses(`${ACME}publickeys_url = x\n`, 'found "publickeys_url" (', 'mean public_keys_url?')
    refuses(`[auth.acme]\nissuers = https://a.test\n`, 'found "issuers" (', 'mean issuer?')
  })

  for (const [key, text] of [
    ['issuer', ''],
    ['issuer', 'https://a.test https://b.test'],
    ['issuer', 'https://a.test, https://b.test'],
    ['tenants', ''],
    ['tenants', ','],
    ['tenants', '*, acme'],
    ['tenants', 'acme *'],
    ['audience', ''],
    ['public_keys_url', ''],
    ['public_keys_url', 'ftp://a.test'],
    ['algorithms', 'HS256'],
    ['token_types', ','],
  ] as const) {
    test(`refuses ${key} = ${text}`, () => {
      const rules = { issuer: 'https://a.test', tenants: '*', audience: 'a', [key]: text }
      const lines = Object.entries(rules).map((rule) => rule.join(' = '))
      const line = Object.keys(rules).indexOf(key) + 2
      const found = `found ${JSON.stringify(text)} (`
      refuses(`[auth.acme]\n${lines.join('\n')}\n`, `${key}: expected `, found, `line ${line})`)
    })
  }

  test('is reported if it lacks a key, by its name and the line that it begins with', () => {
    refuses(
      '[app]\n[auth.acme]\n',
      /^\[auth\.acme\] issuer: expected a string .*, found none \(.*, line 2\)$/m,
      /^\[auth\.acme\] tenants: expected '\*' or a list of tenant names, found none/m,
      /^\[auth\.acme\] audience: expected .*, found none .*: here, or as the option audience/m,
    )
  })

  test('is reported if its issuer cannot be discovered', () => {
    const text = ACME.replace('https://a.test', 'http://a.test')
    refuses(text, 'issuer: expected an https URL', 'public_keys_url', 'line 2')
    assert.equal(entriesOf(`${text}public_keys_url = http://a.test/keys\n`).length, 1)
  })

  test('is reported if another has the same issuer', () => {
    const twice = `${ACME}${ACME.replace('acme]', 'other]')}`
    refuses(twice, 'issuer: expected each issuer once, found "https://a.test" again', 'line 6')
  })

  test('is refused the second time, and so is a key', () => {
    refuses(`${ACME}${ACME}`, '[auth.acme]: expected it once, found it again', 'line 5')
    refuses(`${ACME}issuer = b\n`, '[auth.acme] issuer: expected it once, found it again', 'line 5')
  })
})
