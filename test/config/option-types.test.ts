import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readIssuerRules } from '../../lib/config/issuer-config.ts'
import { loadSettings } from '../../lib/config/load-settings.ts'
import { configError } from '../helpers/app/config-error.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const folder = tempFolder()
const issuer = 'https://a.test'
const resource = 'https://api.test/mcp'

describe('resource without a configured issuer', () => {
  const expected = 'resource: expected issuer, or issuers (in the INI file [auth.NAME]), found none'

  test('stops the boot, in dev mode too', () => {
    assert.throws(() => loadSettings({ resource }), configError(expected))
    const publicKeysUrl = 'https://a.test/keys'
    assert.throws(() => loadSettings({ resource, publicKeysUrl }), configError(expected))
    assert.throws(() => loadSettings({ resource, devMode: true }), configError(expected))
  })

  test('is reported with its line in the INI file', () => {
    const configFile = folder.write(`[auth]\nresource = ${resource}\n`)
    const shown = () => loadSettings({ configFile })
    assert.throws(shown, configError(expected, `${configFile}, line 2`))
  })

  test('is not reported if the issuer is wrong, which is reported', () => {
    assert.throws(() => loadSettings({ resource, issuer: '' }), configError(/^issuer: .*$/))
    assert.throws(() => loadSettings({ resource, issuers: [] }), configError(/^issuers: .*$/))
  })
})

describe('where no audience is given, resource is the audience', () => {
  const entries = (options: object) => {
    const { issuers } = loadSettings({ resource, ...options })
    assert.ok(typeof issuers !== 'function', 'a list of issuers')
    return issuers.map(({ audience }) => audience)
  }

  test('of one issuer', () => assert.deepEqual(entries({ issuer }), [[resource]]))

  test('of each issuer that has none itself', () => {
    const issuers = [
      { issuer, tenants: '*' },
      { issuer: 'https://b.test', tenants: ['acme'], audience: 'lunch' },
    ]
    assert.deepEqual(entries({ issuers }), [[resource], ['lunch']])
  })

  test('of an issuer that a function returns', () => {
    const { settings } = loadSettings({ resource, issuers: () => null })
    assert.deepEqual(readIssuerRules(issuer, { tenants: '*' }, settings)?.audience, [resource])
  })

  test('of the INI file too', () => {
    const rules = `[auth]\nresource = ${resource}\n[auth.acme]\nissuer = ${issuer}\ntenants = *\n`
    const { issuers } = loadSettings({ configFile: folder.write(rules) })
    assert.ok(typeof issuers !== 'function', 'a list of issuers')
    assert.deepEqual(issuers[0]?.audience, [resource])
  })

  test('and not where one is given', () => {
    assert.deepEqual(entries({ issuer, audience: 'lunch' }), [['lunch']])
    const issuers = [{ issuer, tenants: '*' }]
    assert.deepEqual(entries({ issuers, audience: ['a', 'b'] }), [['a', 'b']])
    assert.throws(() => entries({ issuer, audience: undefined }), configError(/^audience: .*$/))
  })
})
