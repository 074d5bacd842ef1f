import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import {
  ERR_AUTH_TENANT_FORBIDDEN,
  ERR_AUTH_TENANT_INVALID,
  ERR_AUTH_TENANT_UNKNOWN,
  ERR_AUTH_TENANTS_UNAVAILABLE,
} from '../../lib/errors.ts'
import type { Authorization } from '../../lib/rights/authorization.ts'
import { currentAuthorization, openContexts } from '../../lib/rights/current-authorization.ts'
import type { InternalUser } from '../../lib/rights/internal-user.ts'
import { InternalWork, type InternalWorkRules } from '../../lib/rights/internal-work.ts'
import { AskedTenants } from '../../lib/tenants/asked-tenants.ts'
import { ListedTenants } from '../../lib/tenants/listed-tenants.ts'
import { configError } from '../helpers/app/config-error.ts'

openContexts()

const JOB = { sub: 'job:invoices', tenant: 'acme', resources: ['order:read', 'authz:superuser'] }

function internalWork(rules: Partial<InternalWorkRules> = {}) {
  const begun: Authorization[] = []
  const work = new InternalWork({
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
  const authorization = await work.run({ ...JOB, tenant }, currentAuthorization)
  assert.ok(authorization !== null, 'the work has an authorization')
  return authorization
}

describe('the authorization of the work', () => {
  test('is that of a user of one tenant, without an issuer and without an end', async () => {
    const authorization = await authorizationIn('acme')
    const { tenant, userInfo, issuer, actor, tenants, resources, expiresAt } = authorization
    assert.deepEqual(userInfo, { sub: JOB.sub, resources: { acme: JOB.resources } })
    assert.deepEqual([tenant, issuer, actor], ['acme', null, null])
    assert.deepEqual([[...tenants], [...resources]], [['acme'], JOB.resources])
    assert.equal(expiresAt.getTime(), 8.64e15)
    assert.match(inspect(authorization), /job:invoices/)
  })

  test('holds what was given, and no more for the resource of superusers', async () => {
    const authorization = await authorizationIn('acme')
    assert.equal(authorization.isSuperuser, false)
    assert.equal(authorization.has(...JOB.resources), true)
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
    assert.equal(await work.run(JOB, () => 7), 7)
    assert.equal(await work.run(JOB, async () => setImmediate(8)), 8)
    const error = new Error('no paper')
    await assert.rejects(
      work.run(JOB, () => {
        throw error
      }),
      error,
    )
    await assert.rejects(
      work.run(JOB, () => Promise.reject(error)),
      error,
    )
  })

  test('within other work has its own authorization, and then the other has its own again', async () => {
    const tenant = () => currentAuthorization()?.tenant
    const seen = await work.run(JOB, async () => {
      const inner = await work.run({ ...JOB, tenant: 'zoo' }, async () => {
        await setImmediate()
        return tenant()
      })
      const failed = work.run({ ...JOB, tenant: 'zoo' }, () => Promise.reject(new Error('no')))
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
        work.run({ ...JOB, tenant }, async () => {
          await setImmediate()
          return currentAuthorization()?.tenant
        }),
      ),
    )
    assert.deepEqual(seen, jobs)
  })

  test('is told of before it begins', async () => {
    const { work, begun } = internalWork()
    await work.run(JOB, () => assert.equal(begun[0], currentAuthorization()))
    assert.equal(begun.length, 1)
  })
})

describe('no work begins, and none is told of,', () => {
  const late = () => setImmediate(false)
  const failing = () => Promise.reject(new Error('the database is away'))
  const asked = (exists: () => Promise<boolean>) =>
    new AskedTenants(exists, { timeout: 5, maxAge: 60 })

  const refused: [
    why: string,
    who: InternalUser,
    rules: Partial<InternalWorkRules>,
    error: object,
  ][] = [
    ['for a malformed user', { ...JOB, sub: '' }, {}, TypeError],
    ['for a malformed tenant', { ...JOB, tenant: '*' }, {}, ERR_AUTH_TENANT_INVALID],
    ['for an unknown tenant', { ...JOB, tenant: 'no' }, {}, ERR_AUTH_TENANT_UNKNOWN],
    [
      'for a tenant that the application does not know',
      JOB,
      { knownTenants: asked(late) },
      ERR_AUTH_TENANT_UNKNOWN,
    ],
    [
      'if the application cannot tell of the tenant',
      JOB,
      { knownTenants: asked(failing) },
      ERR_AUTH_TENANTS_UNAVAILABLE,
    ],
    ['without the option', JOB, { asyncContext: false }, configError('asyncContext: ', 'actAs()')],
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
    const run = Reflect.apply(work.run, work, [JOB])
    await assert.rejects(run, { name: 'TypeError', message: /a function to run/ })
    assert.deepEqual(begun, [])
  })
})

test('the tenants function is asked under no authorization', async () => {
  const seen: unknown[] = []
  const knownTenants = new AskedTenants(
    async () => {
      seen.push(currentAuthorization())
      return true
    },
    { timeout: 5, maxAge: 0 },
  )
  const { work } = internalWork({ knownTenants })
  await work.run(JOB, () => work.run({ ...JOB, tenant: 'zoo' }, () => seen.push('began')))
  assert.deepEqual(seen, [null, null, 'began'])
})
