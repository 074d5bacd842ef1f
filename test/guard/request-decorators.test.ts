import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import {
  decorateRequest,
  decoratorConflicts,
  GETTERS,
  readsDeclared,
} from '../../lib/guard/request-decorators.ts'
import tenantAuth, { authorizationOf, type RouteDeclaration } from '../../lib/index.ts'
import { configError } from '../helpers/app/config-error.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'

const KEYS = ['tenant', 'userInfo', 'resources', 'authorization'] as const

/** What each property of a request gives, where it is declared. */
function valuesOf(request: FastifyRequest): Record<(typeof KEYS)[number], unknown> {
  const authorization = authorizationOf(request)
  assert.ok(authorization, 'the request was let through')
  const { tenant, userInfo, resources } = authorization
  return { tenant, userInfo, resources, authorization }
}

const CONFIGS: readonly [config: RouteDeclaration, declared: string[]][] = [
  [{}, []],
  [{ tenant: true }, ['tenant']],
  [{ tenant: 'optional' }, ['tenant']],
  [{ userInfo: true }, ['userInfo']],
  [{ resources: true }, ['resources']],
  [{ authorization: true }, ['authorization']],
]

for (const [config, declared] of CONFIGS) {
  test(`with ${JSON.stringify(config)} a request has ${declared.join() || 'no property of ours'}`, async (t) => {
    const app = await guardedApp(t)
    const wrong: string[] = []
    app.get('/x', { config }, async (request) => {
      const values = valuesOf(request)
      for (const key of KEYS) {
        const expected = declared.includes(key) ? values[key] : undefined
        if (request[key] !== expected) wrong.push(key)
      }
    })
    const response = await app.inject({ url: '/x?tenant=lazy-raccoon', headers: await as() })
    assert.deepEqual([response.statusCode, wrong], [200, []])
  })
}

test('before the decision a request gives nothing, and what is assigned to it is not kept', async (t) => {
  const app = bareApp(t)
  const seen: unknown[] = []
  app.addHook('onRequest', async (request) => {
    for (const key of KEYS) {
      Object.assign(request, { [key]: 'other' })
      seen.push(request[key])
    }
  })
  await app.register(tenantAuth, trusting())
  app.get('/x', { config: { userInfo: true } }, async ({ userInfo }) => userInfo.sub)
  const response = await app.inject({ url: '/x', headers: await as() })
  assert.deepEqual([response.body, seen], ['test-user', KEYS.map(() => undefined)])
})

test('after the decision an assignment to a property of ours fails, and names it', async (t) => {
  const app = await guardedApp(t)
  const thrown: unknown[] = []
  app.get('/x', async (request) => {
    for (const key of KEYS) {
      assert.throws(
        () => Object.assign(request, { [key]: 'other' }),
        (error) => error instanceof TypeError && error.message === `request.${key} is read-only`,
      )
      thrown.push(key)
    }
  })
  await app.inject({ url: '/x', headers: await as() })
  assert.deepEqual(thrown, KEYS)
})

test('a scope below that decorates its requests with a function of our name is refused', async (t) => {
  const app = bareApp(t)
  decorateRequest(app)
  assert.deepEqual([...GETTERS.keys()], KEYS)
  await app.register(async (child) => {
    for (const name of GETTERS.keys()) {
      assert.throws(
        () => child.decorateRequest(name, () => 'other'),
        configError(`found ${name} (boot)`),
      )
    }
  })
  await app.ready()
})

test('a request reads as declared unless one of our properties is hidden', async (t) => {
  const app = await guardedApp(t)
  const read: boolean[] = []
  app.get('/x', async (request) => {
    read.push(readsDeclared(request), readsDeclared(Object.create(request)))
    for (const key of KEYS) {
      read.push(readsDeclared(Object.create(request, { [key]: { value: 'other' } })))
    }
  })
  await app.inject({ url: '/x', headers: await as() })
  assert.deepEqual(read, [true, true, false, false, false, false])
  assert.equal(readsDeclared(Object.create(null)), false)
})

/** A scope with this in place of its constructor of requests. */
function scopeWith(value: unknown) {
  return Object.assign(Object.create(null), { [Symbol('fastify.Request')]: value })
}

test('a scope without a usable constructor of requests has no conflict', (t) => {
  const app = bareApp(t)
  const named = Object.assign(class {}, { props: [{ key: 'tenant', value: null }] })
  const arrow = Object.setPrototypeOf(() => {}, named)
  for (const value of [undefined, null, {}, () => {}, arrow, class {}]) {
    assert.deepEqual(decoratorConflicts(app, scopeWith(value)), [])
  }
  assert.deepEqual(decoratorConflicts(app, Object.create(null)), [])
})

test('names are found in a constructor that does not descend from that of the guarded scope', (t) => {
  class Other {
    static props = [{ key: 'tenant', value: null }, null, 'x']
    get resources() {
      return 'x'
    }
  }
  assert.deepEqual(decoratorConflicts(bareApp(t), scopeWith(Other)), ['tenant', 'resources'])
})

test('a scope below a guard that decorates with no name of ours has none of them', async (t) => {
  const app = await guardedApp(t)
  assert.deepEqual(decoratorConflicts(app, app), [])
  await app.register(async (child) => {
    child.decorateRequest('other', null)
    await child.register(async (inner) => {
      inner.decorateRequest('more', () => 'other')
      assert.deepEqual([decoratorConflicts(app, child), decoratorConflicts(app, inner)], [[], []])
    })
  })
  await app.ready()
})
