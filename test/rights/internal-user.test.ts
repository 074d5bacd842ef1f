import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERR_AUTH_TENANT_INVALID } from '../../lib/errors.ts'
import { readInternalUser } from '../../lib/rights/internal-user.ts'

const JOB = { sub: 'job:invoices', tenant: 'acme', resources: ['order:read', 'order:bill'] }

test('what is read is a copy, which cannot be changed', () => {
  const given = structuredClone(JOB)
  const read = readInternalUser(given)
  assert.deepEqual(read, JOB)
  given.resources.push('order:erase')
  assert.deepEqual(read.resources, JOB.resources)
  assert.equal(Object.isFrozen(read.resources), true)
})

test('a list without ids, and an object without a prototype, will do', () => {
  const given = Object.assign(Object.create(null), JOB, { resources: [] })
  assert.deepEqual(readInternalUser(given), { ...JOB, resources: [] })
})

class Job {
  sub = 'job'
  resources = []
  get tenant() {
    return 'acme'
  }
}

const sparse: string[] = []
sparse[1] = 'order:read'

const MALFORMED: [what: string, who: unknown, message: RegExp][] = [
  ['nothing', undefined, /an object with sub, tenant and resources/],
  ['null', null, /an object with sub, tenant and resources/],
  ['a list', [JOB], /an object with sub, tenant and resources/],
  ['a name', 'job:invoices', /an object with sub, tenant and resources/],
  ['an unknown member', { ...JOB, issuer: 'https://a.test' }, /no other member/],
  ['a misspelt member', { ...JOB, ressources: [] }, /no other member/],
  ['a member that is a symbol', { ...JOB, [Symbol('x')]: 1 }, /no other member/],
  ['an unknown member that is undefined', { ...JOB, actor: undefined }, /no other member/],
  ['no sub', { tenant: 'acme', resources: [] }, /a sub that is a string/],
  ['an inherited sub', Object.create(JOB), /a sub that is a string/],
  ['an undefined sub', { ...JOB, sub: undefined }, /a sub that is a string/],
  ['an empty sub', { ...JOB, sub: '' }, /a sub that is a string/],
  ['a sub that is a number', { ...JOB, sub: 7 }, /a sub that is a string/],
  ['no resources', { sub: 'job', tenant: 'acme' }, /a list of ids/],
  ['undefined resources', { ...JOB, resources: undefined }, /a list of ids/],
  ['one id without a list', { ...JOB, resources: 'order:read' }, /a list of ids/],
  ['a set of ids', { ...JOB, resources: new Set(['order:read']) }, /a list of ids/],
  ['resources of a claim', { ...JOB, resources: { acme: ['order:read'] } }, /a list of ids/],
  ['an id without an action', { ...JOB, resources: ['order:read', 'order'] }, /a list of ids/],
  ['an id that is undefined', { ...JOB, resources: [undefined] }, /a list of ids/],
  ['an id that is missing', { ...JOB, resources: sparse }, /a list of ids/],
  ['every id', { ...JOB, resources: ['*'] }, /a list of ids/],
]

for (const [what, who, message] of MALFORMED) {
  test(`${what} is a mistake of the application`, () => {
    assert.throws(() => readInternalUser(who), { name: 'TypeError', message })
  })
}

const NO_TENANTS: [what: string, who: unknown][] = [
  ['no tenant', { sub: 'job', resources: [] }],
  ['a tenant that a getter gives', new Job()],
  ...[undefined, null, '', '*', 'a\n', 'x'.repeat(256), 7, ['acme']].map(
    (tenant): [string, unknown] => [`the tenant ${JSON.stringify(tenant)}`, { ...JOB, tenant }],
  ),
]

for (const [what, who] of NO_TENANTS) {
  test(`${what} is refused as that of a request is`, () => {
    assert.throws(() => readInternalUser(who), ERR_AUTH_TENANT_INVALID)
  })
}
