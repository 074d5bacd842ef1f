import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { createTestAuthority, type TestAuthority } from '../../../lib/entrypoints/testing/index.ts'
import type { AuthOptions } from '../../../lib/index.ts'
import { createApp } from '../../examples/tenants-in-a-database/app.ts'
import { addTenant, asTenant } from '../../examples/tenants-in-a-database/as-tenant.ts'
import type { Database, Session } from '../../examples/tenants-in-a-database/database.ts'
import {
  addMember,
  deleteMember,
  resourcesOf,
} from '../../examples/tenants-in-a-database/memberships.ts'
import { assertRefused } from '../app/refusals.ts'
import { holdTime } from './age-by-date.ts'

const [LAZY, BUSY] = ['lazy-raccoon', 'busy-beaver'] as const

const authority = await createTestAuthority()
const other = await createTestAuthority({ issuer: 'https://other.test' })

const userOf = (sub: string) => ({ issuer: authority.issuer, sub })
const BOB = userOf(`bob o'hara"; --`)
const BOSS = userOf('boss of lazy-raccoon')

/** Requests for dishes may come after the clock was moved. */
const headersOf = ({ sub }: { sub: string }, by: TestAuthority = authority) =>
  by.headers({ sub }, { expiresIn: 3600 })

/** The memberships of the example on a database of any kind, fresh and with its schema. */
export function describeMembershipsIn(kind: string, open: () => Promise<Database>): void {
  describe(`memberships in ${kind}`, () => {
    let database: Database
    before(async () => {
      database = await open()
      for (const tenant of [LAZY, BUSY]) {
        await addTenant(database, tenant)
        await addMember(database, tenant, BOB, ['dish:read'])
      }
      await addMember(database, LAZY, BOSS, ['member:edit'])
    })
    after(() => database?.close())

    const start = async (t: TestContext, options: AuthOptions = authority.options) => {
      const app = await createApp(database, options)
      t.after(() => app.close())
      return app
    }
    const rightsOf = (user: { issuer: string | null; sub: string }) => resourcesOf(database, user)
    const asLazy = (statement: string) => asTenant(database, LAZY, ({ query }) => query(statement))
    const asRights = (...statements: string[]) =>
      database.transaction(async ({ query }: Session) => {
        await query('set local role lunch_rights')
        return (await Promise.all(statements.map((statement) => query(statement)))).flat()
      })

    it('show the rights of a user in each tenant, and of no other user', async () => {
      assert.deepEqual(await rightsOf(BOB), { [LAZY]: ['dish:read'], [BUSY]: ['dish:read'] })
      assert.deepEqual(await rightsOf(BOSS), { [LAZY]: ['member:edit'] })
      for (const stranger of [
        userOf('alice'),
        { ...BOB, issuer: other.issuer },
        { ...BOB, issuer: null },
        { ...BOB, issuer: '' },
        userOf(`' or true; --`),
      ]) {
        assert.equal(await rightsOf(stranger), null, JSON.stringify(stranger))
      }
    })

    it('of users who ask at the same time are kept apart', async () => {
      const users = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? BOB : BOSS))
      const tenants = (await Promise.all(users.map(rightsOf))).map((all) => Object.keys(all ?? {}))
      const found = tenants.map(({ length }) => length)
      assert.deepEqual(
        found,
        users.map((user) => (user === BOB ? 2 : 1)),
      )
    })

    it('do not count for a user of the same name of another issuer', async (t) => {
      const issuers = [authority, other].map((by) => by.issuerRules({ tenants: '*' }))
      const app = await start(t, { issuers })
      const url = `/${LAZY}/dishes`
      assert.equal((await app.inject({ url, headers: await headersOf(BOB) })).statusCode, 200)
      const response = await app.inject({ url, headers: await headersOf(BOB, other) })
      assertRefused(response, 'ERR_AUTH_TENANT_FORBIDDEN')
    })

    it('show themselves to nobody who names neither a tenant nor a user', async () => {
      assert.deepEqual(await asRights('select * from memberships'), [])
      const owners = await database.transaction(async ({ query }) => {
        await query('set local role lunch_app')
        // To name a user is of no use to the role of requests.
        await query(`select set_config('app.issuer', $1, true)`, [BOB.issuer])
        await query(`select set_config('app.sub', $1, true)`, [BOB.sub])
        return query('select * from memberships')
      })
      assert.deepEqual(owners, [])
      const own = await asLazy('select distinct tenant from memberships')
      assert.deepEqual(own, [{ tenant: LAZY }])
    })

    const FORBIDDEN_TO_RIGHTS = [
      'select * from dishes',
      'select * from tenants',
      `insert into memberships (issuer, sub, tenant, resources) values ('a', 'b', '${LAZY}', '{}')`,
      'update memberships set resources = resources',
      'delete from memberships',
    ]
    for (const statement of FORBIDDEN_TO_RIGHTS) {
      it(`do not let the role that reads them say ${statement}`, () =>
        refuses(asRights(`select set_config('app.tenant', '${LAZY}', true)`, statement)))
    }

    const insert = (tenant: string, resources = '{}') =>
      `insert into memberships (issuer, sub, tenant, resources) values ('a', 'b', '${tenant}', '${resources}')`
    const FORBIDDEN_TO_REQUESTS = [
      insert(BUSY),
      insert('*'),
      insert('no-newt'),
      `update memberships set tenant = '${BUSY}'`,
      `update memberships set sub = 'boss of busy-beaver'`,
      `update memberships set issuer = 'https://other.test'`,
      'alter table memberships disable row level security',
      'drop policy of_this_user on memberships',
    ]
    for (const statement of FORBIDDEN_TO_REQUESTS) {
      it(`do not let a request say ${statement}`, () => refuses(asLazy(statement)))
    }

    it('of others are neither changed nor deleted by statements without WHERE', async () => {
      await assert.rejects(
        asTenant(database, LAZY, async ({ query }) => {
          const changed = await query(`update memberships set resources = '{a:b}' returning tenant`)
          const gone = await query('delete from memberships returning tenant')
          assert.deepEqual([changed, gone], [Array(2).fill({ tenant: LAZY }), changed])
          throw new Error('and never mind')
        }),
        /never mind/,
      )
      assert.deepEqual(Object.keys((await rightsOf(BOB)) ?? {}).length, 2)
    })

    it('cannot be such that a tenant makes rights in others unreadable, or its own global', async () => {
      await assert.rejects(asLazy(insert(LAZY, '{null}')), { code: '23514' })
      await assert.rejects(asLazy(insert(LAZY, '{{a:b}}')))
      await assert.rejects(
        asTenant(database, '*', ({ query }) => query(insert('*'))),
        { code: '23514' },
      )
    })

    const edit = async (
      app: FastifyInstance,
      method: 'PUT' | 'DELETE',
      given: { issuer: string; sub: string; resources?: string[]; tenant?: string },
      { by = BOSS, tenant = LAZY }: { by?: { sub: string }; tenant?: string } = {},
    ) => {
      const url = `/${tenant}/members`
      const headers = await headersOf(by)
      const { issuer, sub } = given
      const sent: InjectOptions = method === 'PUT' ? { payload: given } : { query: { issuer, sub } }
      return app.inject({ method, url, headers, ...sent })
    }
    const statusOf = async (app: FastifyInstance, tenant: string, user = BOB) =>
      (await app.inject({ url: `/${tenant}/dishes`, headers: await headersOf(user) })).statusCode

    it('give rights at the next request, in the tenant of who gives them only', async (t) => {
      const app = await start(t)
      const carol = userOf('carol')
      t.after(() => asTenant(database, LAZY, deleteMember(carol)))
      assert.equal(await statusOf(app, LAZY, carol), 403)
      const given = { ...carol, resources: ['dish:read'], tenant: BUSY }
      assert.equal((await edit(app, 'PUT', given)).statusCode, 204)
      assert.deepEqual(await rightsOf(carol), { [LAZY]: ['dish:read'] })
      const found = [await statusOf(app, LAZY, carol), await statusOf(app, BUSY, carol)]
      assert.deepEqual(found, [200, 403])
      assert.equal((await edit(app, 'PUT', { ...carol, resources: [] })).statusCode, 204)
      assert.deepEqual(await rightsOf(carol), { [LAZY]: [] })
      assert.equal(await statusOf(app, LAZY, carol), 403)
    })

    it('are edited by those only who may do so in the tenant', async (t) => {
      const app = await start(t)
      for (const method of ['PUT', 'DELETE'] as const) {
        const given = { ...BOB, resources: ['member:edit'] }
        const foreign = await edit(app, method, given, { tenant: BUSY })
        assertRefused(foreign, 'ERR_AUTH_TENANT_FORBIDDEN')
        const unable = await edit(app, method, given, { by: BOB })
        assertRefused(unable, 'ERR_AUTH_RESOURCE_MISSING', 'member:edit')
      }
      for (const resources of [['*'], ['dish'], [''], Array(101).fill('dish:read')]) {
        assert.equal((await edit(app, 'PUT', { ...BOB, resources })).statusCode, 400)
      }
      assert.deepEqual(await rightsOf(BOB), { [LAZY]: ['dish:read'], [BUSY]: ['dish:read'] })
    })

    it('are not edited for a user whose name the database cannot hold', async (t) => {
      const app = await start(t)
      for (const letter of ['\u0000', '\ud800', '\udc00']) {
        for (const name of ['issuer', 'sub'] as const) {
          const given = { ...BOB, [name]: `a${letter}b`, resources: [] }
          assert.equal((await edit(app, 'PUT', given)).statusCode, 400, JSON.stringify(given))
        }
      }
      for (const name of ['issuer', 'sub'] as const) {
        const { statusCode } = await edit(app, 'DELETE', { ...BOB, [name]: 'a\u0000b' })
        assert.equal(statusCode, 400, name)
      }
      const carol = userOf('🐪 carol\n')
      assert.equal((await edit(app, 'PUT', { ...carol, resources: [] })).statusCode, 204)
      assert.equal((await edit(app, 'DELETE', carol)).statusCode, 204)
    })

    it('that are taken away count no more at the next request, and everywhere within resourcesMaxAge', async (t) => {
      holdTime(t, { apis: ['Date'], now: Date.now() })
      const options = { ...authority.options, resourcesMaxAge: 30 }
      const [here, there] = [await start(t, options), await start(t, options)]
      for (const app of [here, there]) {
        assert.deepEqual([await statusOf(app, LAZY), await statusOf(app, BUSY)], [200, 200])
      }
      assert.equal((await edit(here, 'DELETE', BOB)).statusCode, 204)
      assert.deepEqual([await statusOf(here, LAZY), await statusOf(here, BUSY)], [403, 200])
      t.mock.timers.tick(29_999)
      assert.equal(await statusOf(there, LAZY), 200, 'elsewhere it is kept')
      t.mock.timers.tick(1)
      assert.deepEqual([await statusOf(there, LAZY), await statusOf(there, BUSY)], [403, 200])
      assert.equal((await edit(here, 'DELETE', BOB)).statusCode, 404)
    })
  })
}

/** Insufficient privilege, or a row that a policy does not let pass. */
function refuses(attempt: Promise<unknown>): Promise<void> {
  return assert.rejects(attempt, { code: '42501' })
}
