import assert from 'node:assert/strict'
import test from 'node:test'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import type { Resources, TokenUser } from '../../lib/index.ts'
import { dismiss, type Memberships, useMemberships } from './rights-from-a-table.ts'

const authority = await createTestAuthority()
const ALICE = { issuer: authority.issuer, sub: 'alice' }

/** What is in the table of one database, which two processes may share. */
function table(): Memberships {
  const keyOf = ({ issuer, sub }: TokenUser) => JSON.stringify([issuer, sub])
  const rows = new Map<string, Resources>([[keyOf(ALICE), { acme: [], busy: [] }]])
  return {
    find: async (user) => rows.get(keyOf(user)),
    remove: async (user, tenant) => {
      const { [tenant]: _, ...rest } = rows.get(keyOf(user)) ?? {}
      rows.set(keyOf(user), rest)
    },
  }
}

test('a right that is taken away counts no more at the next request, or within resourcesMaxAge', async (t) => {
  const members = table()
  const maxAge = { ...authority.options, resourcesMaxAge: 0.05 }
  const [here, there] = [Fastify(), Fastify()]
  for (const [app, options] of [
    [here, authority.options],
    [there, maxAge],
  ] as const) {
    t.after(() => app.close())
    await useMemberships(app, members, options)
    app.get('/:tenant', async () => 'ok')
  }
  const headers = await authority.headers({ sub: 'alice' })
  const status = async (app: typeof here, url: string) =>
    (await app.inject({ url, headers })).statusCode
  for (const app of [here, there]) assert.equal(await status(app, '/acme'), 200)
  await dismiss(here, members, ALICE, 'acme')
  assert.deepEqual([await status(here, '/acme'), await status(here, '/busy')], [403, 200])
  const end = performance.now() + 10_000
  while ((await status(there, '/acme')) === 200) {
    assert.equal(performance.now() < end, true, 'the right counts for too long')
  }
})
