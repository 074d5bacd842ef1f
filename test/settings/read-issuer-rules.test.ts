import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadSettings } from '../../lib/settings/load-settings.ts'
import { readIssuerRules } from '../../lib/settings/read-issuer-rules.ts'
import { createTestAuthority } from '../../lib/testing.ts'

const { publicKeys } = await createTestAuthority()

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
