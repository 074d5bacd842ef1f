import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { createTestAuthority } from '../../../lib/entrypoints/testing/index.ts'
import { createApp } from '../../examples/tenants-in-a-database/app.ts'
import { addTenant, asTenant } from '../../examples/tenants-in-a-database/as-tenant.ts'
import type { Database, Session } from '../../examples/tenants-in-a-database/database.ts'
import { addMember } from '../../examples/tenants-in-a-database/memberships.ts'

const QUOTED = `o'hara"; drop table dishes; --`
const TENANTS = ['lazy-raccoon', 'busy-beaver', QUOTED]

/** The example on a database of any kind, fresh and with its schema. */
export function describeTenantsIn(kind: string, open: () => Promise<Database>): void {
  describe(`tenants in ${kind}`, () => {
    let database: Database
    let app: FastifyInstance
    let isOpen = false
    before(async () => {
      database = await open()
      isOpen = true
      for (const tenant of TENANTS) {
        await addTenant(database, tenant)
        await addMember(database, tenant, cookOf(tenant), ['dish:read', 'dish:edit'])
      }
      app = await createApp(database, authority.options)
      addCarelessRoutes(app, database)
      for (const tenant of TENANTS) {
        for (const dish of ['soup', `${tenant} special`]) {
          assert.equal((await ask(app, 'POST', tenant, '/dishes', { name: dish })).status, 201)
        }
      }
    })
    after(async () => {
      await app?.close()
      if (isOpen) await database.close()
    })

    const all = (tenant: string) =>
      asTenant(database, tenant, (session) => session.query('select * from dishes order by id'))
    const names = async (tenant: string) => (await all(tenant)).map((dish) => dish['name'])

    for (const tenant of TENANTS) {
      it(`shows ${tenant} its own rows, and no others, by a query without WHERE`, async () => {
        const { status, body } = await ask(app, 'GET', tenant, '/careless/dishes')
        assert.equal(status, 200)
        assert.deepEqual(
          rows(body).map((dish) => [dish['tenant'], dish['name']]),
          [
            [tenant, 'soup'],
            [tenant, `${tenant} special`],
          ],
        )
        assert.equal(rows((await ask(app, 'GET', tenant, '/dishes')).body).length, 2)
      })
    }

    it('does not even show which other tenants there are', async () => {
      const { body } = await ask(app, 'GET', 'lazy-raccoon', '/careless/tenants')
      assert.deepEqual(body, [{ name: 'lazy-raccoon' }])
    })

    const curious = [
      `select * from dishes where tenant = 'busy-beaver'`,
      `select * from dishes where tenant <> 'lazy-raccoon'`,
      `select b.* from dishes a join dishes b on a.name = b.name and a.tenant <> b.tenant`,
      `select * from (select tenant, count(*) from dishes group by tenant) t where tenant <> 'lazy-raccoon'`,
      `update dishes set name = 'stew' where tenant = 'busy-beaver' returning *`,
      `delete from dishes where tenant = 'busy-beaver' returning *`,
    ]
    for (const statement of curious) {
      it(`gives nothing to ${statement}`, async () => {
        const found = await asTenant(database, 'lazy-raccoon', ({ query }) => query(statement))
        assert.deepEqual(found, [])
      })
    }

    it('changes and deletes no rows of others by statements without WHERE', async () => {
      const others = await all('busy-beaver')
      await assert.rejects(
        asTenant(database, 'lazy-raccoon', async ({ query }) => {
          assert.equal((await query(`update dishes set name = name || '!' returning 1`)).length, 2)
          assert.equal((await query('delete from dishes returning 1')).length, 2)
          throw new Error('and never mind')
        }),
        /never mind/,
      )
      assert.deepEqual(await all('busy-beaver'), others)
      assert.deepEqual(await names('lazy-raccoon'), ['soup', 'lazy-raccoon special'])
    })

    it('refuses to insert a row for another tenant', async () => {
      const body = { tenant: 'busy-beaver', name: 'poison' }
      const { status } = await ask(app, 'POST', 'lazy-raccoon', '/careless/dishes', body)
      assert.equal(status, 500)
      await refuses(
        asTenant(database, 'lazy-raccoon', ({ query }) =>
          query('insert into dishes (tenant, name) values ($1, $2)', ['busy-beaver', 'poison']),
        ),
      )
      assert.deepEqual(await names('busy-beaver'), ['soup', 'busy-beaver special'])
      const own = { tenant: 'lazy-raccoon', name: 'pie' }
      assert.equal((await ask(app, 'POST', 'lazy-raccoon', '/careless/dishes', own)).status, 200)
    })

    it('refuses to hand a row over to another tenant', () =>
      refuses(
        asTenant(database, 'lazy-raccoon', ({ query }) =>
          query(`update dishes set tenant = 'busy-beaver' where name = 'lazy-raccoon special'`),
        ),
      ))

    it('deletes a row by its id for its own tenant only', async () => {
      const [dish] = await all('busy-beaver')
      const path = `/dishes/${dish?.['id']}`
      assert.equal((await ask(app, 'DELETE', 'lazy-raccoon', path)).status, 404)
      assert.deepEqual(await names('busy-beaver'), ['soup', 'busy-beaver special'])
      assert.equal((await ask(app, 'DELETE', 'busy-beaver', path)).status, 204)
      assert.deepEqual(await names('busy-beaver'), ['busy-beaver special'])
    })

    it('refuses a name that the database cannot hold', async () => {
      const before = await names('lazy-raccoon')
      for (const name of ['\u0000', 'so\u0000up', 'soup\ud800', '\udc00\ud800']) {
        const { status } = await ask(app, 'POST', 'lazy-raccoon', '/dishes', { name })
        assert.equal(status, 400, JSON.stringify(name))
      }
      assert.deepEqual(await names('lazy-raccoon'), before)
    })

    it('reveals nothing of the names of others by a conflict', async () => {
      const name = 'busy-beaver special'
      const once = await ask(app, 'POST', 'lazy-raccoon', '/dishes', { name })
      const twice = await ask(app, 'POST', 'lazy-raccoon', '/dishes', { name })
      assert.deepEqual([once.status, twice.status], [201, 409])
    })

    const forbidden = [
      `insert into tenants (name) values ('lazy-raccoon-2')`,
      'delete from tenants',
      'alter table dishes disable row level security',
      'drop policy of_this_request on dishes',
      'set local row_security = off; select * from dishes',
    ]
    for (const statement of forbidden) {
      it(`does not let a request say ${statement}`, () =>
        refuses(
          asTenant(database, 'lazy-raccoon', async ({ query }) => {
            for (const part of statement.split('; ')) await query(part)
          }),
        ))
    }

    it('shows nothing where no tenant is set, on used connections neither', async () => {
      await Promise.all(TENANTS.map(all))
      const bare = await Promise.all(
        Array.from({ length: 8 }, () =>
          database.transaction(async ({ query }) => {
            await query('set local role lunch_app')
            return [
              ...(await query('select * from dishes')),
              ...(await query('select * from tenants')),
            ]
          }),
        ),
      )
      assert.deepEqual(bare.flat(), [])
      await refuses(
        database.transaction(async ({ query }) => {
          await query('set local role lunch_app')
          await query(`insert into dishes (tenant, name) values ('busy-beaver', 'poison')`)
        }),
      )
    })

    it('leaves neither tenant nor role behind on a connection, after an error neither', async () => {
      const failing = ({ query }: Session) => query('select 1 / 0')
      await Promise.all(
        Array.from({ length: 8 }, () =>
          assert.rejects(asTenant(database, 'lazy-raccoon', failing), { code: '22012' }),
        ),
      )
      const settings = ['tenant', 'issuer', 'sub'].map(
        (name) => `coalesce(current_setting('app.${name}', true), '')`,
      )
      const state = `select ${settings.join(' || ')} || (current_user in ('lunch_app', 'lunch_rights')) as left`
      const states = await Promise.all(
        Array.from({ length: 8 }, () => database.transaction(({ query }) => query(state))),
      )
      assert.deepEqual(new Set(states.flat().map((row) => row['left'])), new Set(['false']))
    })

    it('keeps requests of different tenants apart that run at the same time', async () => {
      const askers = Array.from({ length: 60 }, (_, i) => TENANTS[i % TENANTS.length] ?? QUOTED)
      const answers = await Promise.all(
        askers.map((tenant) => ask(app, 'GET', tenant, '/careless/dishes')),
      )
      for (const [i, { body }] of answers.entries()) {
        assert.deepEqual(new Set(rows(body).map((dish) => dish['tenant'])), new Set([askers[i]]))
      }
    })

    it('rests on roles without privileges, and on row security that binds owners too', async () => {
      const roles = await database.transaction(({ query }) =>
        query(
          `select rolsuper, rolbypassrls, rolcanlogin, rolcreaterole from pg_roles where rolname in ('lunch_app', 'lunch_rights')`,
        ),
      )
      const none = [false, false, false, false]
      const shown = roles.map((role) => Object.values(role))
      assert.deepEqual(shown, [none, none])
      const tables = await database.transaction(({ query }) =>
        query(
          `select relname, relrowsecurity and relforcerowsecurity as forced, relowner::regrole::text not in ('lunch_app', 'lunch_rights') as foreign
             from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`,
        ),
      )
      assert.deepEqual(tables, [
        { relname: 'dishes', forced: true, foreign: true },
        { relname: 'memberships', forced: true, foreign: true },
        { relname: 'tenants', forced: true, foreign: true },
      ])
    })

    it('answers 404 for a tenant that the user may act for and that is in no table, until it is', async (t) => {
      // The mock user may act for it. A membership cannot be in a tenant that is in no table.
      const dev = await createApp(database, { devMode: true, devUserInfoPath })
      t.after(() => dev.close())
      const unknown = await dev.inject('/gone-gecko/dishes')
      assert.equal(unknown.statusCode, 404)
      assert.equal(unknown.json().code, 'ERR_AUTH_TENANT_UNKNOWN')
      await addTenant(database, 'gone-gecko')
      const known = await dev.inject('/gone-gecko/dishes')
      assert.deepEqual([known.statusCode, known.json()], [200, []])
    })

    it('answers 403 for a tenant that the user may not act for, whether it exists or not', async () => {
      const { sub } = cookOf('lazy-raccoon')
      // What the token grants does not count.
      const rights = ['dish:read', 'dish:edit']
      const resources = { '*': rights, 'busy-beaver': rights, 'no-newt': rights }
      const headers = await authority.headers({ sub, resources })
      for (const tenant of ['busy-beaver', 'no-newt']) {
        const { statusCode } = await app.inject({ url: `/${tenant}/dishes`, headers })
        assert.equal(statusCode, 403)
      }
      const { statusCode } = await app.inject('/lazy-raccoon/dishes')
      assert.equal(statusCode, 401)
    })

    it('answers 503 when the database is gone', async () => {
      const late = await createApp(database, authority.options)
      await database.close()
      isOpen = false
      const { status, body } = await ask(late, 'GET', 'lazy-raccoon', '/dishes')
      await late.close()
      assert.equal(status, 503)
      assert.equal(rows([body])[0]?.['code'], 'ERR_AUTH_RESOURCES_UNAVAILABLE')
    })
  })
}

const authority = await createTestAuthority()

const example = new URL('../../examples/tenants-in-a-database/', import.meta.url)
const devUserInfoPath = fileURLToPath(new URL('dev-userinfo.json', example))

/** A user with all rights to dishes, in this tenant only, by the table. */
const cookOf = (tenant: string) => ({ issuer: authority.issuer, sub: `cook of ${tenant}` })

/** A request of the cook of this tenant. */
async function ask(
  app: FastifyInstance,
  method: 'GET' | 'POST' | 'DELETE',
  tenant: string,
  path: string,
  payload?: object,
) {
  const response = await app.inject({
    method,
    url: `/${encodeURIComponent(tenant)}${path}`,
    headers: await authority.headers({ sub: cookOf(tenant).sub }),
    ...(payload && { payload }),
  })
  const body: unknown = response.body === '' ? null : response.json()
  return { status: response.statusCode, body }
}

function rows(body: unknown): Record<string, unknown>[] {
  assert.ok(Array.isArray(body), JSON.stringify(body))
  return body
}

/** Insufficient privilege, or a row that a policy does not let pass. */
function refuses(attempt: Promise<unknown>): Promise<void> {
  return assert.rejects(attempt, { code: '42501' })
}

/**
 * Careless handlers, as an example of what not to write. They trust the body, and forget the tenant
 * of the request.
 */
function addCarelessRoutes(app: FastifyInstance, database: Database): void {
  const config = { tenant: 'required' } as const
  for (const table of ['dishes', 'tenants']) {
    app.get(`/:tenant/careless/${table}`, { config }, async (request) =>
      asTenant(database, request.tenant, ({ query }) => query(`select * from ${table}`)),
    )
  }
  app.post('/:tenant/careless/dishes', { config }, async (request) => {
    const values = Object.values(Object(request.body))
    return asTenant(database, request.tenant, ({ query }) =>
      query('insert into dishes (tenant, name) values ($1, $2)', values),
    )
  })
}
