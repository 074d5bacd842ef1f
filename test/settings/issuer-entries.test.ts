import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { IssuerEntry } from '../../lib/authentication/issuer-entry.ts'
import { readIssuerRules } from '../../lib/settings/issuer-entries.ts'
import { loadSettings } from '../../lib/settings/load-settings.ts'
import { createTestAuthority } from '../../lib/testing.ts'

const { publicKeys } = await createTestAuthority()

function entriesOf(options: object): readonly IssuerEntry[] {
  const { issuers } = loadSettings(options)
  assert.ok(typeof issuers !== 'function', 'a list')
  return issuers
}

function onlyEntry(options: object): IssuerEntry {
  const [entry, ...others] = entriesOf(options)
  assert.ok(entry && others.length === 0, 'one entry')
  return entry
}

const publicKeysUrl = 'https://keys.test/'
const DEFAULT_URL = 'http://localhost:8081/openidconnect/public_keys'
const mapClaims = () => ({ sub: 'a' })

describe('where the options themselves are the rules', () => {
  test('one entry serves every tenant, with what the options say', () => {
    const algorithms = ['ES256']
    const tokenTypes = ['at+jwt']
    const options = { publicKeys, algorithms, tokenTypes, mapClaims, audience: 'api' }
    assert.deepEqual(onlyEntry({ issuer: 'https://a.test', ...options }), {
      name: 'a.test',
      issuer: ['https://a.test'],
      tenants: '*',
      audience: ['api'],
      publicKeys,
      publicKeysUrl: undefined,
      algorithms,
      tokenTypes,
      mapClaims,
    })
  })

  test('what nobody gives is not checked, or has its default', () => {
    const { settings } = loadSettings({})
    assert.deepEqual(onlyEntry({}), {
      name: 'default',
      issuer: undefined,
      tenants: '*',
      audience: undefined,
      publicKeys: undefined,
      publicKeysUrl: DEFAULT_URL,
      algorithms: settings.algorithms,
      tokenTypes: undefined,
      mapClaims: undefined,
    })
  })

  const issuer = 'https://a.test'
  for (const [name, options, keys] of [
    ['an address', { publicKeysUrl }, [undefined, publicKeysUrl]],
    ['the default address', {}, [undefined, DEFAULT_URL]],
    ['a set, which wins over an address', { publicKeys, publicKeysUrl }, [publicKeys, undefined]],
    ['those of an issuer’s address', { issuer, publicKeysUrl }, [undefined, publicKeysUrl]],
    [
      'the default address, spelt out',
      { issuer, publicKeysUrl: DEFAULT_URL },
      [undefined, DEFAULT_URL],
    ],
    ['discovered', { issuer }, [undefined, undefined]],
    ['discovered, of a list of one', { issuer: [issuer] }, [undefined, undefined]],
    ['a set, with an issuer', { issuer, publicKeys }, [publicKeys, undefined]],
  ] as const) {
    test(`the keys are ${name}`, () => {
      const entry = onlyEntry(options)
      assert.deepEqual([entry.publicKeys, entry.publicKeysUrl], keys)
    })
  }

  for (const [given, name] of [
    [undefined, 'default'],
    ['https://a.test', 'a.test'],
    ['https://a.test/', 'a.test'],
    ['https://a.test/realms/staff', 'a.test/realms/staff'],
    ['https://a.test/realms/\u00e9?secret#too', 'a.test/realms/%C3%A9'],
    [['https://A.test:444/x'], 'a.test:444/x'],
    ['https://user:secret@a.test', 'a.test'],
    ['accounts.a.test', 'accounts.a.test'],
    ['urn:a:b', 'urn:a:b'],
    ['a\u202e\nb', 'a??b'],
    ['x'.repeat(200), 'x'.repeat(100)],
    [['https://a.test', 'https://b.test'], 'default'],
  ] as const) {
    test(`the name of ${JSON.stringify(given)?.slice(0, 40)} is ${name.slice(0, 20)}`, () => {
      const options = given === undefined ? {} : { issuer: given }
      assert.equal(onlyEntry({ publicKeysUrl, ...options }).name, name)
    })
  }

  test('dev mode has no entries', () => {
    assert.deepEqual(entriesOf({ devMode: true, issuer: 'a' }), [])
  })
})

describe('an issuer of a list', () => {
  const rules = { issuer: 'https://a.test', tenants: ['acme'], audience: 'api' }

  test('has what its rules say', () => {
    const all = {
      ...rules,
      name: 'acme',
      audience: ['a', 'b'],
      publicKeysUrl,
      algorithms: ['ES256'],
      tokenTypes: ['JWT'],
      mapClaims,
    }
    const options = {
      audience: 'other',
      algorithms: ['RS256'],
      tokenTypes: ['at+jwt'],
      mapClaims: () => ({ sub: 'b' }),
    }
    const expected = { ...all, issuer: ['https://a.test'], publicKeys: undefined }
    assert.deepEqual(onlyEntry({ ...options, issuers: [all] }), expected)
  })

  test('falls back to the options, and to its host for a name', () => {
    const options = {
      audience: 'other',
      algorithms: ['RS256'],
      tokenTypes: ['at+jwt'],
      mapClaims,
    }
    const { audience: _, ...bare } = rules
    assert.deepEqual(onlyEntry({ ...options, issuers: [bare] }), {
      ...bare,
      ...options,
      name: 'a.test',
      issuer: ['https://a.test'],
      audience: ['other'],
      publicKeys: undefined,
      publicKeysUrl: undefined,
    })
  })

  test('stands in the order of the list', () => {
    const issuers = ['https://b.test', 'https://a.test'].map((issuer) => ({ ...rules, issuer }))
    assert.deepEqual(
      entriesOf({ issuers }).map(({ name }) => name),
      ['b.test', 'a.test'],
    )
  })

  test('is a copy, frozen, with its lists and its keys', () => {
    const keys = { keys: structuredClone([...publicKeys.keys]) }
    const given = { ...rules, tenants: ['acme'], publicKeys: keys, tokenTypes: ['JWT'] }
    const entry = onlyEntry({ issuers: [given] })
    given.tenants.push('other')
    keys.keys.pop()
    assert.deepEqual(entry.tenants, ['acme'])
    assert.deepEqual(entry.publicKeys, publicKeys)
    for (const value of [entry, ...Object.values(entry)]) {
      assert.equal(Object.isFrozen(value), true)
    }
    const [key] = Object.values(entry.publicKeys ?? {}).flat()
    assert.equal(Object.isFrozen(key), true)
  })

  test('is what is asked for where a function knows the issuers', () => {
    const issuers = () => null
    assert.equal(loadSettings({ issuers }).issuers, issuers)
  })
})

const ISS = 'https://a.test/realms/staff'
const { settings } = loadSettings({ audience: 'lunch', algorithms: ['ES256'] })
const { settings: withoutAudience } = loadSettings({})

const read = (answer: unknown, iss = ISS) => readIssuerRules(iss, answer, settings)

describe('an answer of a function in issuers', () => {
  test('is the entry of the issuer that was asked for', () => {
    const expected = {
      name: 'a.test/realms/staff',
      issuer: [ISS],
      tenants: ['acme'],
      audience: ['lunch'],
      publicKeys: undefined,
      publicKeysUrl: undefined,
      algorithms: ['ES256'],
      tokenTypes: undefined,
      mapClaims: undefined,
    }
    assert.deepEqual(read({ tenants: ['acme'] }), expected)
    assert.deepEqual(read({ tenants: ['acme'], issuer: ISS }), expected)
    assert.deepEqual(read({ tenants: ['acme'], name: 'A' }), { ...expected, name: 'A' })
  })

  test('is copied and frozen', () => {
    const tenants = ['acme']
    const entry = read({ tenants, publicKeys })
    tenants.push('other')
    assert.deepEqual(entry?.tenants, ['acme'])
    assert.equal(Object.isFrozen(entry), true)
    assert.equal(Object.isFrozen(entry?.tenants), true)
    assert.equal(Object.isFrozen(entry?.publicKeys), true)
  })

  test('is none where it is null: the issuer is unknown', () => assert.equal(read(null), null))

  const throwing = {
    get tenants() {
      throw new Error('no connection')
    },
  }
  for (const [name, answer] of [
    ['nothing', undefined],
    ['false', false],
    ['a text', 'https://a.test'],
    ['a list', [{ tenants: '*' }]],
    ['a function', () => null],
    ['no member', {}],
    ['no tenants', { issuer: ISS, audience: 'a' }],
    ['inherited tenants', Object.create({ tenants: '*' })],
    ['no list of tenants', { tenants: 'acme' }],
    ['an empty list of tenants', { tenants: [] }],
    ['every tenant within a list', { tenants: ['*'] }],
    ['another issuer', { tenants: '*', issuer: `${ISS}/` }],
    ['an issuer that is undefined', { tenants: '*', issuer: undefined }],
    ['an unknown member', { tenants: '*', id: 7 }],
    ['a member that is undefined', { tenants: '*', algorithms: undefined }],
    ['a member that is null', { tenants: '*', publicKeysUrl: null }],
    ['a bad address', { tenants: '*', publicKeysUrl: 'ftp://a.test' }],
    ['both key members', { tenants: '*', publicKeys, publicKeysUrl: 'https://a.test' }],
    ['keys that cannot be used', { tenants: '*', publicKeys: { keys: [] } }],
    ['a secret algorithm', { tenants: '*', algorithms: ['HS256'] }],
    ['what throws', throwing],
  ] as const) {
    test(`cannot be used: ${name}`, () => assert.equal(read(answer), undefined))
  }

  test('cannot be used without an audience', () => {
    assert.equal(readIssuerRules(ISS, { tenants: '*' }, withoutAudience), undefined)
    const rules = { tenants: '*', audience: 'a' }
    assert.deepEqual(readIssuerRules(ISS, rules, withoutAudience)?.audience, ['a'])
  })

  for (const iss of ['http://a.test', 'a', 'https://a.test?x', 'https://u@a.test']) {
    test(`cannot be used without keys where they cannot be discovered: ${iss}`, () => {
      assert.equal(read({ tenants: '*' }, iss), undefined)
      assert.deepEqual(read({ tenants: '*', publicKeys }, iss)?.issuer, [iss])
      const publicKeysUrl = 'https://a.test/keys'
      assert.equal(read({ tenants: '*', publicKeysUrl }, iss)?.publicKeysUrl, publicKeysUrl)
    })
  }

  test('cannot be used for what is no name of an issuer', () => {
    assert.equal(read({ tenants: '*', publicKeys }, ''), undefined)
    assert.equal(read({ tenants: '*', publicKeys }, 'a b'), undefined)
  })
})
