import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meantKey, resembles } from '../../lib/routes/declaration-keys.ts'

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
