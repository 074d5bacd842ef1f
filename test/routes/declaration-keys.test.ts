import assert from 'node:assert/strict'
import { test } from 'node:test'
import { declaredBeside, meantKey, resembles, valuesIn } from '../../lib/routes/declaration-keys.ts'

const NONE = Array.from({ length: 6 }, () => undefined)

test('only the values of our keys are listed, in one order', () => {
  const flags = { authorization: 3, resources: 2, userInfo: 1 }
  const config = { require: 'a:b', ...flags, tenant: true, noauth: false, max: 3 }
  assert.deepEqual(valuesIn(config), [false, true, 1, 2, 3, 'a:b'])
  assert.deepEqual(valuesIn({ max: 3 }), NONE)
})

test('what is declared beside noauth is listed, without false and undefined', () => {
  const others = { tenant: 'x', userInfo: 0, resources: '', authorization: true, require: [] }
  const keys = ['tenant', 'userInfo', 'resources', 'authorization', 'require']
  assert.deepEqual(declaredBeside(new Map(Object.entries({ noauth: true, ...others }))), keys)
  const none = { noauth: true, tenant: false, userInfo: undefined, require: false, max: 3 }
  assert.deepEqual(declaredBeside(new Map(Object.entries(none))), [])
})

test('an inherited value, and that of a getter, is not read', () => {
  assert.deepEqual(valuesIn(Object.create({ noauth: true })), NONE)
  const config = {
    get noauth() {
      return true
    },
  }
  assert.deepEqual(valuesIn(config), NONE)
})

/** A word, and the name that it is a slip of. */
const SLIPS: readonly [word: string, meant: string | undefined][] = [
  ['Tenant', 'tenant'],
  ['ten_ant', 'tenant'],
  ['tenants', 'tenant'],
  ['tenantss', undefined],
  ['tenant', undefined],
  ['require', undefined],
  ['require_any_of', 'require'],
  ['requiresEach', 'require'],
  ['requireAnything', undefined],
  ['notRequired', undefined],
  ['Resources', 'resources'],
  ['authorisation', 'authorization'],
  ['max', undefined],
]

for (const [word, meant] of SLIPS) {
  test(`${word} is a slip of ${meant ?? 'no name'}`, () => {
    assert.equal(meantKey(word), meant)
  })
}

/** A path parameter, and a name that it may have been meant for, or not. */
const PARAMETERS: readonly [parameter: string, name: string, isAlike: boolean][] = [
  ['tenant', 'tenant', true],
  ['Ten-ant', 'tenant', true],
  ['tenantId', 'tenant', true],
  ['tenant_slug', 'tenant', true],
  ['tenantName', 'tenant', true],
  ['tenantkey', 'tenant', true],
  ['tenent', 'tenant', true],
  ['tenentId', 'tenant', true],
  ['tenantId', 'tenant_id', true],
  ['tenents', 'tenant', false],
  ['idTenant', 'tenant', false],
  ['tenantCode', 'tenant', false],
  ['id', 'tenant', false],
  ['org', 'org', true],
  ['orgId', 'org', true],
  ['orgs', 'org', false],
  ['teams', 'team', false],
  ['spaces', 'space', true],
]

for (const [parameter, name, isAlike] of PARAMETERS) {
  test(`:${parameter} ${isAlike ? 'may' : 'cannot'} have been meant for :${name}`, () => {
    assert.equal(resembles(parameter, name), isAlike)
  })
}
