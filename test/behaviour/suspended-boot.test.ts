import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AuthOptions, AuthService } from '../../lib/index.ts'
import { configError } from '../helpers/app/config-error.ts'
import { authority, guardedApp, trusting, untyped } from '../helpers/app/guarded-app.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const folder = tempFolder()

function ini(text: string): AuthOptions {
  const { publicKeys, issuer, audience } = authority
  return { configFile: folder.write(text), publicKeys, issuer, audience }
}

const FILES: readonly [what: string, text: string, ...parts: (string | RegExp)[]][] = [
  [
    'beside tenant_url',
    'tenant_url = https://a.test/tenants\nsuspended = old',
    'suspended: expected ids beside it',
    'line 3',
  ],
  ['alone', 'suspended = old', 'suspended: expected ids beside it', 'line 2'],
  [
    'twice',
    'ids = acme\nsuspended = old\nsuspended = new',
    'suspended: expected it once',
    'line 4',
  ],
  [
    'empty',
    'ids = acme\nsuspended =',
    'suspended: expected a list of tenant names, found ""',
    'line 3',
  ],
  [
    'with *',
    'ids = acme\nsuspended = *',
    'suspended: expected a list of tenant names, found "*"',
    'line 3',
  ],
  ['with half a quote', 'ids = acme\nsuspended = "old', 'suspended: expected both quotes or none'],
  ['misspelt', 'ids = acme\nsuspendet = old', 'suspendet', 'did you mean suspended'],
  ['in another case', 'ids = acme\nSuspended = old', 'Suspended', 'did you mean suspended'],
]

for (const [what, text, ...parts] of FILES) {
  test(`in an INI file, suspended ${what} stops the boot`, () => {
    const options = ini(`[tenants]\n${text}\n`)
    assert.throws(() => new AuthService(options), configError(...parts))
  })
}

for (const options of [
  { tenants: { ids: ['acme'], suspended: 'old' } },
  { tenants: { ids: [], suspended: [] } },
  { tenants: { suspended: ['old'] } },
  { tenants: { ids: ['acme'] } },
  { tenants: { ids: ['acme'], Suspended: ['old'] } },
  { suspendedTenants: 'Read' },
  { suspendedTenants: true },
  { suspendedTenants: ['read'] },
]) {
  test(`${JSON.stringify(options)} stops the boot`, () => {
    const [name = ''] = Object.keys(options)
    const make = () => new AuthService({ ...trusting(), ...untyped(options) })
    assert.throws(make, configError(`${name}: expected`))
  })
}

const ROUTES: readonly [url: string, config: object, message: string][] = [
  ['/x', { suspended: true }, 'suspended is declared without a tenant'],
  ['/x', { suspended: true, tenant: false }, 'suspended is declared without a tenant'],
  ['/:tenant', { suspended: 'yes' }, "suspended is no boolean, found 'yes'"],
  ['/:tenant', { suspended: 1 }, 'suspended is no boolean, found 1'],
  ['/:tenant', { suspended: null }, 'suspended is no boolean, found null'],
  ['/x', { suspended: true, noauth: true }, 'suspended is declared without a tenant'],
  ['/:tenant', { Suspended: true }, 'Suspended looks like suspended'],
  ['/:tenant', { suspendet: true }, 'suspendet looks like suspended'],
]

for (const [url, config, message] of ROUTES) {
  test(`${JSON.stringify(config)} at ${url} stops the boot: ${message}`, async (t) => {
    const app = await guardedApp(t)
    app.get(url, { config }, async () => 'x')
    await assert.rejects(
      async () => app.ready(),
      (error: unknown) => {
        assert.equal(Object(error).code, 'ERR_AUTH_ROUTE_INVALID')
        assert.ok(String(error).includes(`GET ${url}: ${message}`), String(error))
        return true
      },
    )
  })
}
