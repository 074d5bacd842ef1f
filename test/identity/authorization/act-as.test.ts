import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import {
  ERR_AUTH_TENANT_FORBIDDEN,
  ERR_AUTH_TENANT_INVALID,
  ERR_AUTH_TENANT_UNKNOWN,
  ERR_AUTH_TENANTS_UNAVAILABLE,
} from '../../../lib/errors.ts'
import {
  ActAs,
  type ActAsRules,
  type InternalUser,
  readInternalUser,
} from '../../../lib/identity/authorization/act-as.ts'
import type { Authorization } from '../../../lib/identity/authorization/authorization.ts'
import {
  currentAuthorization,
  openContexts,
} from '../../../lib/identity/authorization/current-authorization.ts'
import { ListedTenants, TenantsByFunction } from '../../../lib/identity/tenants/known-tenants.ts'
import { configError } from '../../helpers/app/config-error.ts'

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

openContexts()

const JOB_OF_INTERNAL_WORK = {
  sub: 'job:invoices',
  tenant: 'acme',
  resources: ['order:read', 'authz:superuser'],
}

function internalWork(rules: Partial<ActAsRules> = {}) {
  const begun: Authorization[] = []
  const work = new ActAs({
    asyncContext: true,
    superuserResource: 'authz:superuser',
    knownTenants: new ListedTenants(['acme', 'zoo', '__proto__']),
    onBegin: (authorization) => void begun.push(authorization),
    ...rules,
  })
  return { work, begun }
}

const { work } = internalWork()
const authorizationIn = async (tenant: string) => {
  const authorization = await work.run({ ...JOB_OF_INTERNAL_WORK, tenant }, currentAuthorization)
  assert.ok(authorization !== null, 'the work has an authorization')
  return authorization
}

describe('the authorization of the work', () => {
  test('is that of a user of one tenant, without an issuer and without an end', async () => {
    const authorization = await authorizationIn('acme')
    const { tenant, userInfo, issuer, actor, tenants, resources, expiresAt } = authorization
    assert.deepEqual(userInfo, {
      sub: JOB_OF_INTERNAL_WORK.sub,
      resources: { acme: JOB_OF_INTERNAL_WORK.resources },
    })
    assert.deepEqual([tenant, issuer, actor], ['acme', null, null])
    assert.deepEqual([[...tenants], [...resources]], [['acme'], JOB_OF_INTERNAL_WORK.resources])
    assert.equal(expiresAt.getTime(), 8.64e15)
    assert.match(inspect(authorization), /job:invoices/)
  })

  test('holds what was given, and no more for the resource of superusers', async () => {
    const authorization = await authorizationIn('acme')
    assert.equal(authorization.isSuperuser, false)
    assert.equal(authorization.has(...JOB_OF_INTERNAL_WORK.resources), true)
    assert.equal(authorization.has('order:erase'), false)
    assert.throws(() => authorization.in('zoo'), ERR_AUTH_TENANT_FORBIDDEN)
  })

  test('is deeply immutable', async () => {
    const { userInfo } = await authorizationIn('acme')
    const parts = [userInfo, userInfo.resources, userInfo.resources?.['acme']]
    assert.deepEqual(parts.map(Object.isFrozen), [true, true, true])
  })

  test('is for a tenant of any name', async () => {
    assert.deepEqual([...(await authorizationIn('__proto__')).tenants], ['__proto__'])
  })
})

describe('the work', () => {
  test('gives what it returns, at once or later, and the error that it throws', async () => {
    assert.equal(await work.run(JOB_OF_INTERNAL_WORK, () => 7), 7)
    assert.equal(await work.run(JOB_OF_INTERNAL_WORK, async () => setImmediate(8)), 8)
    const error = new Error('no paper')
    await assert.rejects(
      work.run(JOB_OF_INTERNAL_WORK, () => {
        throw error
      }),
      error,
    )
    await assert.rejects(
      work.run(JOB_OF_INTERNAL_WORK, () => Promise.reject(error)),
      error,
    )
  })

  test('within other work has its own authorization, and then the other has its own again', async () => {
    const tenant = () => currentAuthorization()?.tenant
    const seen = await work.run(JOB_OF_INTERNAL_WORK, async () => {
      const inner = await work.run({ ...JOB_OF_INTERNAL_WORK, tenant: 'zoo' }, async () => {
        await setImmediate()
        return tenant()
      })
      const failed = work.run({ ...JOB_OF_INTERNAL_WORK, tenant: 'zoo' }, () =>
        Promise.reject(new Error('no')),
      )
      await assert.rejects(failed, /no/)
      return [inner, tenant()]
    })
    assert.deepEqual(seen, ['zoo', 'acme'])
    assert.equal(currentAuthorization(), null)
  })

  test('of several tenants at one time does not mix', async () => {
    const jobs = Array.from({ length: 200 }, (_, i) => (i % 3 === 0 ? 'zoo' : 'acme'))
    const seen = await Promise.all(
      jobs.map((tenant) =>
        work.run({ ...JOB_OF_INTERNAL_WORK, tenant }, async () => {
          await setImmediate()
          return currentAuthorization()?.tenant
        }),
      ),
    )
    assert.deepEqual(seen, jobs)
  })

  test('is reported before it begins', async () => {
    const { work, begun } = internalWork()
    await work.run(JOB_OF_INTERNAL_WORK, () => assert.equal(begun[0], currentAuthorization()))
    assert.equal(begun.length, 1)
  })
})

describe('no work begins, and none is reported,', () => {
  const late = () => setImmediate(false)
  const failing = () => Promise.reject(new Error('the database is away'))
  const asked = (exists: () => Promise<boolean>) =>
    new TenantsByFunction(exists, { timeout: 5, maxAge: 60 })

  const refused: [why: string, who: InternalUser, rules: Partial<ActAsRules>, error: object][] = [
    ['for a malformed user', { ...JOB_OF_INTERNAL_WORK, sub: '' }, {}, TypeError],
    [
      'for a malformed tenant',
      { ...JOB_OF_INTERNAL_WORK, tenant: '*' },
      {},
      { code: 'ERR_AUTH_TENANT_INVALID', message: 'actAs(): tenant is not the name of a tenant' },
    ],
    [
      'for an unknown tenant',
      { ...JOB_OF_INTERNAL_WORK, tenant: 'no' },
      {},
      { code: 'ERR_AUTH_TENANT_UNKNOWN', message: 'actAs(): the tenant does not exist' },
    ],
    [
      'for a suspended tenant',
      JOB_OF_INTERNAL_WORK,
      { knownTenants: new ListedTenants([], ['acme']) },
      { code: 'ERR_AUTH_TENANT_SUSPENDED', message: 'actAs(): the tenant is suspended' },
    ],
    [
      'for a tenant that the application does not know',
      JOB_OF_INTERNAL_WORK,
      { knownTenants: asked(late) },
      ERR_AUTH_TENANT_UNKNOWN,
    ],
    [
      'if the application cannot answer for the tenant',
      JOB_OF_INTERNAL_WORK,
      { knownTenants: asked(failing) },
      ERR_AUTH_TENANTS_UNAVAILABLE,
    ],
    [
      'without the option',
      JOB_OF_INTERNAL_WORK,
      { asyncContext: false },
      configError('asyncContext: ', 'actAs()'),
    ],
  ]
  for (const [why, who, rules, error] of refused) {
    test(why, async () => {
      const { work, begun } = internalWork(rules)
      const calls: unknown[] = []
      await assert.rejects(
        work.run(who, () => calls.push('began')),
        error,
      )
      assert.deepEqual([calls, begun], [[], []])
    })
  }

  test('if there is no function', async () => {
    const { work, begun } = internalWork()
    const run = Reflect.apply(work.run, work, [JOB_OF_INTERNAL_WORK])
    await assert.rejects(run, { name: 'TypeError', message: /a function to run/ })
    assert.deepEqual(begun, [])
  })
})

test('the tenants function is asked under no authorization', async () => {
  const seen: unknown[] = []
  const knownTenants = new TenantsByFunction(
    async () => {
      seen.push(currentAuthorization())
      return true
    },
    { timeout: 5, maxAge: 0 },
  )
  const { work } = internalWork({ knownTenants })
  await work.run(JOB_OF_INTERNAL_WORK, () =>
    work.run({ ...JOB_OF_INTERNAL_WORK, tenant: 'zoo' }, () => seen.push('began')),
  )
  assert.deepEqual(seen, [null, null, 'began'])
})
