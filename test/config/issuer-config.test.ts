import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readIssuerRules } from '../../lib/config/issuer-config.ts'
import { loadSettings } from '../../lib/config/load-settings.ts'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import type { IssuerEntry } from '../../lib/identity/authentication/issuer.ts'
import { readKeySet } from '../../lib/identity/jwks/jwk-set.ts'
import { configError } from '../helpers/app/config-error.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const { publicKeys } = await createTestAuthority()
const folder = tempFolder()

const load = (options: object) => loadSettings(options)

/** Options stop the boot with these parts in the message. */
const stops = (options: object, ...parts: (string | RegExp)[]) =>
  assert.throws(() => load(options), configError(...parts))

const publicKeysUrl = 'https://a.test/keys'
const KEYS_URL = 'publicKeysUrl (in the INI file public_keys_url)'
const NO_KEYS = `no keys can be discovered there; give ${KEYS_URL}`

/** A list of one issuer that is right but for these members. */
const listOf = (rules: object) => ({
  issuers: [{ issuer: 'https://a.test', tenants: '*', audience: 'api', ...rules }],
})

/** Issuers whose keys cannot be discovered. */
const NOT_DISCOVERED = [
  'http://a.test',
  'http://10.0.0.1',
  'a',
  'urn:a',
  'https://a.test?x=1',
  'https://a.test#x',
  'https://u:p@a.test',
]

describe('one issuer without a key option', () => {
  for (const issuer of ['https://a.test', ['https://a.test'], 'http://127.0.0.1:1']) {
    test(`is discovered: ${issuer}`, () => void load({ issuer }))
  }

  for (const issuer of NOT_DISCOVERED) {
    test(`stops the boot where it cannot be discovered: ${issuer}`, () => {
      for (const given of [issuer, [issuer]]) {
        const refused = configError('issuer: expected an https URL (http on loopback)', NO_KEYS)
        assert.throws(() => load({ issuer: given }), refused)
      }
    })

    test(`needs no discovery with a key option, nor in dev mode: ${issuer}`, () => {
      load({ issuer, publicKeysUrl })
      load({ issuer, publicKeys })
      load({ issuer, devMode: true })
    })
  }

  test('is reported with its line in the INI file, and without what may be a secret', () => {
    const configFile = folder.write('[auth]\nissuer = https://user:secret@a.test/\n')
    stops({ configFile }, 'issuer: ', 'found "https://***@a.test/"', `${configFile}, line 2`)
  })

  test('is not reported twice if a key option is wrong', () => {
    stops({ issuer: 'a', publicKeysUrl: 'b' }, /^publicKeysUrl.*$/)
    stops({ issuer: '', realm: 'a' }, /^issuer: .*$/)
  })
})

describe('several in the option issuer', () => {
  const issuer = ['https://a.test', 'https://b.test']

  test('stop the boot without a key option', () => {
    stops(
      { issuer },
      `issuer: expected ${KEYS_URL} beside several issuers, which share one key set, found none`,
      'issuers (in the INI file [auth.NAME])',
    )
  })

  test('share the keys of one, and need none in dev mode', () => {
    load({ issuer, publicKeysUrl })
    load({ issuer, publicKeys })
    load({ issuer, devMode: true })
  })
})

describe('issuers beside an option for one issuer', () => {
  for (const [option, value] of [
    ['issuer', 'https://a.test'],
    ['publicKeysUrl', publicKeysUrl],
    ['publicKeys', publicKeys],
  ] as const) {
    test(`stop the boot: ${option}`, () => {
      const both = `${option}: expected ${option} or issuers, found both (option): each issuer of a list has its own`
      stops({ ...listOf({}), [option]: value }, both)
      stops({ issuers: () => null, [option]: value }, both)
    })
  }

  test('stop the boot in an INI file, and where one of them is in code', () => {
    const rules = 'issuer = https://a.test\ntenants = *\naudience = a\n'
    const sections = `[auth.acme]\n${rules}[auth]\n`
    const both = folder.write(`${sections}issuer = https://b.test\n`)
    const expected = 'issuer: expected issuer or [auth.acme], found both'
    stops({ configFile: both }, expected, `${both}, line 6`)
    const configFile = folder.write(sections)
    stops({ configFile, issuer: 'https://b.test' }, expected)
    const one = folder.write('[auth]\nissuer = https://b.test\n')
    const inCode = configError('issuer: expected issuer or issuers, found both', `${one}, line 2`)
    assert.throws(() => load({ configFile: one, ...listOf({}) }), inCode)
  })
})

describe('the rules of an issuer', () => {
  for (const [name, rules, message] of [
    ['a misspelt member', { audiences: 'a' }, 'audiences: expected audience, found "audiences"'],
    ['an unknown member', { jwks: 'a' }, 'jwks: expected one of name, issuer, '],
    ['an unknown member that is undefined', { x: undefined }, 'x: expected one of '],
    ['an option that is no member', { realm: 'a' }, 'realm: expected one of '],
    ['a member of Object.prototype', { constructor: 'a' }, 'constructor: expected one of '],
    ['no issuer text', { issuer: 7 }, 'issuer: expected a string without white space, found 7'],
    ['several issuers in one', { issuer: ['https://a.test'] }, 'issuer: expected a string'],
    ['an issuer with white space', { issuer: 'https://a.test b' }, 'issuer: expected a string'],
    ['one tenant as text', { tenants: 'acme' }, "tenants: expected '*' or a list of tenant names"],
    ['no tenant', { tenants: [] }, 'tenants: expected'],
    ['every tenant within a list', { tenants: ['acme', '*'] }, 'tenants: expected'],
    ['a bad tenant name', { tenants: ['acme\n'] }, 'tenants: expected'],
    ['an empty tenant name', { tenants: [''] }, 'tenants: expected'],
    ['true for every tenant', { tenants: true }, 'tenants: expected'],
    ['a number for an audience', { audience: 7 }, 'audience: expected a string or a list'],
    ['no audience in a list', { audience: [] }, 'audience: expected a string or a list'],
    ['a secret algorithm', { algorithms: ['HS256'] }, 'algorithms: expected a list of RS256'],
    ['an empty list of algorithms', { algorithms: [] }, 'algorithms: expected a list of RS256'],
    ['a token type as text', { tokenTypes: 'JWT' }, 'tokenTypes: expected a list of token types'],
    [
      'a word for resourcesOf',
      { resourcesOf: 'token' },
      "resourcesOf: expected a function, or 'claims'",
    ],
    ['no function for mapClaims', { mapClaims: {} }, 'mapClaims: expected a function'],
    ['a name with a line break', { name: 'a\nb' }, 'name: expected printable ASCII of at most 100'],
    ['a long name', { name: 'a'.repeat(101) }, 'name: expected printable ASCII of at most 100'],
    [
      'another scheme',
      { publicKeysUrl: 'ftp://a.test' },
      'publicKeysUrl: expected an http or http',
    ],
    ['credentials', { publicKeysUrl: 'https://u:p@a.test/' }, 'publicKeysUrl: expected an http'],
    ['keys that are no set', { publicKeys: { keys: [] } }, /publicKeys: .*found an object: no usa/],
    [
      'keys that cannot be read',
      { publicKeys: { keys: [{ k: 5n }] } },
      /publicKeys: .*cannot be r/,
    ],
    [
      'both key members',
      { publicKeys, publicKeysUrl },
      'publicKeys: expected publicKeysUrl or pub',
    ],
  ] as const) {
    test(`stop the boot: ${name}`, () => {
      const parts = typeof message === 'string' ? `issuers[0].${message}` : message
      stops(listOf(rules), parts, '(option)')
    })
  }

  for (const member of [
    ...['name', 'issuer', 'tenants', 'audience', 'publicKeysUrl', 'publicKeys'],
    ...['algorithms', 'tokenTypes', 'mapClaims', 'resourcesOf'],
  ]) {
    test(`stop the boot where ${member} is undefined, null or empty`, () => {
      for (const [value, found] of [
        [undefined, 'found undefined (option): is an environment variable missing?'],
        [null, 'found null (option)'],
        ['', 'found "" (option)'],
      ] as const) {
        const key = `issuers[0].${member}: expected `
        stops(listOf({ [member]: value }), key, found)
      }
    })
  }

  for (const [member, expected] of [
    ['issuer', 'a string without white space'],
    ['tenants', "'*' or a list of tenant names"],
    ['audience', 'a string or a list of strings'],
  ] as const) {
    test(`stop the boot without ${member}`, () => {
      const { [member]: _, ...rules } = { issuer: 'https://a.test', tenants: '*', audience: 'api' }
      const message = `issuers[0].${member}: expected ${expected}, found none (option)`
      stops({ issuers: [rules] }, message)
      const inherited = Object.assign(Object.create({ [member]: '*' }), rules)
      stops({ issuers: [inherited] }, message)
    })
  }

  test('stop the boot without what only Object.prototype has', (t) => {
    t.after(() => Reflect.deleteProperty(Object.prototype, 'tenants'))
    const value = { value: '*', configurable: true, writable: true }
    Object.defineProperty(Object.prototype, 'tenants', value)
    const issuers = [{ issuer: 'https://a.test', audience: 'a' }]
    stops({ issuers }, 'issuers[0].tenants: ', 'found none')
  })

  test('need no audience where the option gives one, and say so', () => {
    const issuers = [{ issuer: 'https://a.test', tenants: '*' }]
    load({ issuers, audience: 'api' })
    stops({ issuers }, 'as the option audience for all issuers')
    stops({ issuers, audience: 7 }, /^audience: .*$/)
  })

  for (const issuer of NOT_DISCOVERED) {
    test(`stop the boot where there are no keys to be had: ${issuer}`, () => {
      const message = 'issuers[0].issuer: expected an https URL (http on loopback)'
      stops(listOf({ issuer }), message, NO_KEYS)
      load(listOf({ issuer, publicKeysUrl }))
      load(listOf({ issuer, publicKeys }))
    })
  }

  test('stop the boot for the same issuer twice, and not for one that is spelt in another way', () => {
    const rules = { tenants: '*', audience: 'api' }
    const list = (...names: string[]) => names.map((issuer) => ({ ...rules, issuer }))
    stops(
      { issuers: list('https://a.test', 'https://b.test', 'https://a.test') },
      'issuers[2].issuer: expected each issuer once, found "https://a.test" again',
    )
    load({ issuers: list('https://a.test', 'https://a.test/', 'https://A.test') })
  })

  test('may have the same name twice', () => {
    const [first] = listOf({ name: 'a' }).issuers
    load({ issuers: [first, { ...first, issuer: 'https://b.test' }] })
  })

  test('stop the boot in dev mode too, where they are not used', () => {
    stops({ ...listOf({ tenants: 7 }), devMode: true }, 'tenants')
    stops({ ...listOf({ issuer: 'a' }), devMode: true }, NO_KEYS)
    assert.deepEqual(load({ ...listOf({}), devMode: true }).issuers, [])
  })

  test('are reported all at once, in the order in which they were written', () => {
    const issuers = [
      { issuer: 'https://a.test', tenant: 'acme', audience: undefined },
      { issuer: 'a', tenants: '*', name: '' },
    ]
    assert.throws(
      () => load({ realm: 7, issuers, keysRetry: '1' }),
      (error: Error) => {
        assert.deepEqual(
          error.message.split('\n').map((line) => line.split(':')[0]),
          [
            'realm',
            'issuers[0].tenant',
            'issuers[0].audience',
            'issuers[1].name',
            'keysRetry',
            'issuers[0].tenants',
            'issuers[1].audience',
            'issuers[1].issuer',
          ],
        )
        return true
      },
    )
  })
})

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
      publicKeys: JSON.stringify(publicKeys),
      keySet: readKeySet(publicKeys),
      publicKeysUrl: undefined,
      algorithms,
      tokenTypes,
      mapClaims,
      resourcesOf: undefined,
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
      keySet: undefined,
      publicKeysUrl: DEFAULT_URL,
      algorithms: settings.algorithms,
      tokenTypes: undefined,
      mapClaims: undefined,
      resourcesOf: undefined,
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
      const given = entry.publicKeys === undefined ? undefined : JSON.parse(entry.publicKeys)
      assert.deepEqual([given, entry.publicKeysUrl], keys)
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
      keySet: undefined,
      publicKeysUrl: undefined,
      resourcesOf: undefined,
    })
  })

  test('is a copy, frozen, with its lists and its keys', () => {
    const keys = { keys: structuredClone([...publicKeys.keys]) }
    const given = { ...rules, tenants: ['acme'], publicKeys: keys, tokenTypes: ['JWT'] }
    const entry = onlyEntry({ issuers: [given] })
    given.tenants.push('other')
    keys.keys.pop()
    assert.deepEqual(entry.tenants, ['acme'])
    assert.equal(entry.publicKeys, JSON.stringify(publicKeys))
    assert.deepEqual(entry.keySet, readKeySet(publicKeys))
    for (const value of [entry, ...Object.values(entry)]) {
      assert.equal(Object.isFrozen(value), true)
    }
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
      keySet: undefined,
      publicKeysUrl: undefined,
      algorithms: ['ES256'],
      tokenTypes: undefined,
      mapClaims: undefined,
      resourcesOf: undefined,
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
