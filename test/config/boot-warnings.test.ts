import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bootWarnings } from '../../lib/config/boot-warnings.ts'
import { loadSettings } from '../../lib/config/load-settings.ts'
import type { AuthOptions } from '../../lib/config/options.ts'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'

const { publicKeys } = await createTestAuthority()

const publicKeysUrl = 'https://a.test/keys'
const issuer = 'https://a.test'
const audience = 'api'

/** A configuration without a warning. */
const QUIET = { publicKeysUrl, issuer, audience }

const DEFAULT_URL = 'publicKeysUrl is not configured: using the default http://localhost:8081/'
const plainKeysOf = (name: string) =>
  `publicKeysUrl of the issuer ${name} is plain http beyond loopback`
const PLAIN_KEYS = plainKeysOf('a.test')
const PLAIN_TENANTS = 'tenants is plain http beyond loopback'
const NO_ISSUER = 'issuer is not configured'
const NO_AUDIENCE = 'audience is not configured'
const BOUND = 'confirmation is ignored: a token that is bound to its sender'
const PROOFS = 'proofSeen is not configured: DPoP proofs are remembered by this service alone'
const SUPERUSER = 'superuserResource without tenants'

const publicUrl = 'https://api.test'

const TABLE: readonly (readonly [name: string, options: AuthOptions, warnings: string[]])[] = [
  ['a full configuration', QUIET, []],
  ['no configuration', {}, [DEFAULT_URL, NO_ISSUER, NO_AUDIENCE]],
  ['the default URL', { audience }, [DEFAULT_URL, NO_ISSUER]],
  ['an issuer that is discovered', { issuer, audience }, []],
  ['an issuer of a list of one, discovered', { issuer: [issuer], audience }, []],
  [
    'plain http for the keys of any issuer',
    { publicKeysUrl: 'http://a.test/', audience },
    [plainKeysOf('default'), NO_ISSUER],
  ],
  [
    'several issuers',
    {
      issuers: [
        { issuer, audience, tenants: '*', publicKeys },
        { issuer: 'https://b.test', audience, tenants: ['b'], publicKeysUrl },
        {
          issuer: 'https://c.test',
          audience,
          tenants: ['c'],
          publicKeysUrl: 'http://localhost:8081/openidconnect/public_keys',
        },
      ],
    },
    [],
  ],
  [
    'plain http for the keys of some of several issuers',
    {
      audience,
      issuers: [
        { issuer, tenants: '*' },
        { issuer: 'https://b.test:444', tenants: ['b'], publicKeysUrl: 'http://b.test/' },
        { issuer: 'c', name: 'C', tenants: ['c'], publicKeysUrl: 'http://c.test/' },
      ],
    },
    [plainKeysOf('b.test:444'), plainKeysOf('C')],
  ],
  ['issuers that a function knows', { issuers: () => null }, []],
  [
    'the default URL, spelt out',
    { ...QUIET, publicKeysUrl: 'http://localhost:8081/openidconnect/public_keys' },
    [],
  ],
  ['keys in code', { issuer, audience, publicKeys }, []],
  ['no keys beside opaqueToken', { publicKeys: { keys: [] }, opaqueToken: () => null }, []],
  ['keys in code, and a URL', { ...QUIET, publicKeysUrl: 'http://a.test/', publicKeys }, []],
  ['no issuer', { publicKeysUrl, audience }, [NO_ISSUER]],
  ['no audience', { publicKeysUrl, issuer }, [NO_AUDIENCE]],
  ['an address for each tenant', { publicKeysUrl, issuer, resource: `${publicUrl}/:tenant` }, []],
  ['plain http for the keys', { ...QUIET, publicKeysUrl: 'http://a.test/' }, [PLAIN_KEYS]],
  ['HTTP in capitals', { ...QUIET, publicKeysUrl: 'HTTP://A.TEST/' }, [PLAIN_KEYS]],
  ['plain http to 127.0.0.1', { ...QUIET, publicKeysUrl: 'http://127.0.0.1/' }, []],
  ['plain http to ::1', { ...QUIET, publicKeysUrl: 'http://[::1]:80/' }, []],
  ['plain http to localhost', { ...QUIET, publicKeysUrl: 'http://LOCALHOST/' }, []],
  [
    'plain http to a name that only looks like loopback',
    { ...QUIET, publicKeysUrl: 'http://127.0.0.1.a.test/' },
    [PLAIN_KEYS],
  ],
  ['a list of tenants', { ...QUIET, tenants: ['a'] }, []],
  ['a function for tenants', { ...QUIET, tenants: () => true }, []],
  ['https for tenants', { ...QUIET, tenants: 'https://a.test/' }, []],
  ['plain http for tenants', { ...QUIET, tenants: 'http://a.test/' }, [PLAIN_TENANTS]],
  ['plain http for tenants on loopback', { ...QUIET, tenants: 'http://localhost/' }, []],
  ['bound tokens refused', { ...QUIET, confirmation: 'refuse' }, []],
  ['bound tokens accepted', { ...QUIET, confirmation: 'ignore' }, [BOUND]],
  ['bound tokens proved', { ...QUIET, confirmation: 'check', publicUrl }, [PROOFS]],
  ['bound tokens required', { ...QUIET, confirmation: 'require', publicUrl }, [PROOFS]],
  [
    'bound tokens proved for all processes',
    { ...QUIET, confirmation: 'check', publicUrl, proofSeen: () => true },
    [],
  ],
  ['a superuser without tenants', { ...QUIET, superuserResource: 'a:b' }, [SUPERUSER]],
  ['a superuser with tenants', { ...QUIET, superuserResource: 'a:b', tenants: ['a'] }, []],
]

for (const [name, options, expected] of TABLE) {
  test(`${name}: ${expected.length || 'no'} warnings`, () => {
    const warnings = bootWarnings(loadSettings(options))
    const found = warnings.map((warning, i) => warning.slice(0, expected[i]?.length))
    assert.deepEqual(found, expected)
  })
}

describe('in dev mode', () => {
  const loaded = loadSettings({ devMode: true, issuers: () => null })

  test('one warning names the user and its tenants, and no warning is about keys', () => {
    const user = { sub: 'u1', preferred_username: 'Ann', resources: { acme: ['a:b'], 'b c': [] } }
    assert.deepEqual(bootWarnings({ ...loaded, mockUser: user }), [
      'dev mode: every request acts as the mock user Ann, with the rights of tenants: acme, b c; never use it in production',
    ])
  })

  test('a user without a name is shown by its identifier', () => {
    const found = bootWarnings({ ...loaded, mockUser: { sub: 'u1' } })[0] ?? ''
    assert.match(found, /mock user u1, .*tenants: none;/)
  })

  test('rights in every tenant are not shown as a tenant', () => {
    const user = { sub: 'u1', resources: { '*': ['a:b'] } }
    assert.match(bootWarnings({ ...loaded, mockUser: user })[0] ?? '', /tenants: none;/)
    const both = { sub: 'u1', resources: { '*': ['a:b'], acme: [] } }
    assert.match(bootWarnings({ ...loaded, mockUser: both })[0] ?? '', /tenants: acme;/)
  })

  test('a superuser without tenants causes the warning too', () => {
    const superuser = loadSettings({ devMode: true, superuserResource: 'a:b' })
    const warnings = bootWarnings(superuser)
    assert.equal(warnings.length, 2)
    assert.equal(warnings[1]?.startsWith(SUPERUSER), true)
  })
})
