import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadSettings } from '../../lib/config/load-settings.ts'
import { readDeclaration } from '../../lib/routes/declaration.ts'
import { compilePolicy, type TenantPlace } from '../../lib/routes/policy.ts'
import { assertRouteInvalid } from '../helpers/app/config-error.ts'
import { guardedApp } from '../helpers/app/guarded-app.ts'

const ON = { tenantParameter: 'tenant', multitenancy: true, devMode: false }
const OFF = { tenantParameter: 'tenant', multitenancy: false, devMode: false }
const DEV = { tenantParameter: 'tenant', multitenancy: true, devMode: true }
const DEV_OFF = { tenantParameter: 'tenant', multitenancy: false, devMode: true }
const { settings } = loadSettings({})

type Row = readonly [
  url: string,
  tenant: boolean | 'required' | 'optional' | undefined,
  rules: typeof ON,
  place: TenantPlace,
  mayBeAbsent: boolean,
]

/** Routes that a hook saw. */
const SEEN: readonly Row[] = [
  ['/:tenant/x', undefined, ON, 'path', false],
  ['/:tenant/x', false, OFF, 'path', false],
  ['/:tenant/x', true, ON, 'path', false],
  ['/:tenant/x', true, OFF, 'path', false],
  ['/:tenant/x', 'required', ON, 'path', false],
  ['/:tenant/x', 'required', OFF, 'path', false],
  ['/:tenant/x', 'required', DEV_OFF, 'path', false],
  ['/x', undefined, ON, null, false],
  ['/x', true, ON, 'query', false],
  ['/x', 'required', ON, 'query', false],
  ['/x', 'optional', ON, 'query', true],
  ['/x', true, OFF, null, false],
  ['/x', 'optional', OFF, null, true],
  ['/x', true, DEV, 'query', true],
  ['/x', 'required', DEV, 'query', false],
  ['/x', 'optional', DEV, 'query', true],
  ['/x', true, DEV_OFF, 'query', true],
  ['/x', 'optional', DEV_OFF, 'query', true],
]

/** Routes that no hook saw: `'optional'` counts as `true`. */
const TOO_EARLY: readonly Row[] = [
  ['/x', 'optional', ON, 'query', false],
  ['/x', 'required', OFF, 'query', false],
  ['/x', 'optional', OFF, null, false],
  ['/x', 'optional', DEV, 'query', true],
  ['/:tenant/x', 'optional', ON, 'path', false],
]

for (const [strict, rows] of [
  [false, SEEN],
  [true, TOO_EARLY],
] as const) {
  for (const [url, tenant, rules, place, mayBeAbsent] of rows) {
    const name = `${url} with tenant ${tenant}, ${JSON.stringify(rules)}, too early ${strict}`
    test(`${name}: in ${place}, may be absent ${mayBeAbsent}`, () => {
      const { policy, problems } = compilePolicy(
        { url, ...readDeclaration({ tenant }), strict },
        { ...settings, ...rules },
      )
      if (!strict) assert.deepEqual(problems, [])
      assert.equal(policy.tenant, place)
      if (place !== null) assert.equal(policy.mayBeAbsent, mayBeAbsent)
    })
  }
}

const OPTIONAL_SEGMENT = "tenant is 'optional' on a path with a tenant segment"
const NEVER_NULL = "tenant is 'required' without a tenant segment, and multitenancy is off"

/** Contradictions that only path, config and settings show together. */
const CONTRADICTIONS: readonly [string, 'required' | 'optional', typeof ON, string][] = [
  ['/:tenant/x', 'optional', ON, OPTIONAL_SEGMENT],
  ['/x/:tenant?', 'optional', ON, OPTIONAL_SEGMENT],
  ['/:tenant/x', 'optional', OFF, OPTIONAL_SEGMENT],
  ['/:tenant/x', 'optional', DEV, OPTIONAL_SEGMENT],
  ['/x', 'required', OFF, NEVER_NULL],
  ['/::tenant', 'required', OFF, NEVER_NULL],
  ['/x', 'required', DEV_OFF, NEVER_NULL],
]

for (const [url, tenant, rules, problem] of CONTRADICTIONS) {
  test(`${url} with tenant '${tenant}' and ${JSON.stringify(rules)} stops the boot`, async (t) => {
    const app = await guardedApp(t, rules)
    app.get(url, { config: { tenant } }, async () => 'never')
    await assertRouteInvalid(app, `GET ${url}: ${problem}`)
  })
}

test('a route that wants a login is not for guests, even where that did not stop the boot', () => {
  for (const more of [{ stepUp: { maxAge: 60 } }, { check: 'own' }, { require: 'a:b' }]) {
    const { declared } = readDeclaration({ guests: true, ...more })
    const route = { url: '/x', declared, problems: [], strict: false }
    assert.equal(compilePolicy(route, settings).policy.guests, false)
  }
})
