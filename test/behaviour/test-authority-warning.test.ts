import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { type AuthOptions, tenantAuth } from '../../lib/index.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { KeyServer } from '../helpers/servers/key-server.ts'

const WARNING =
  'tenant auth: the keys are those of a test authority (npx fastify-tenant-auth authority), which signs what anybody asks for; never use it in production'

/** What an application logs until its keys are there. */
async function logged(t: TestContext, options: AuthOptions) {
  const lines: { level: number; msg: string; issuer?: string }[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const app = bareApp(t, { logger: { level: 'warn', stream } })
  await app.register(tenantAuth, options)
  await app.ready()
  await app.authService.refreshKeys()
  return { app, lines }
}

test('if the fetched keys are those of a test authority, a warning names it', async (t) => {
  const authority = await createTestAuthority()
  t.after(() => authority.close())
  const { issuer, audience } = authority
  const options = { publicKeysUrl: await authority.listen(), issuer, audience }
  const { app, lines } = await logged(t, options)
  const warnings = () => lines.filter(({ msg }) => msg === WARNING)
  const found = warnings().map(({ level, issuer }) => ({ level, issuer }))
  assert.deepEqual(found, [{ level: 40, issuer: 'authority.test' }])
  await app.authService.refreshKeys()
  assert.equal(warnings().length, 1, 'the same keys are named once')
  await authority.rotate()
  await app.authService.refreshKeys()
  assert.equal(warnings().length, 2, 'other keys are named anew')
})

test('keys that a test gives in code make no noise', async (t) => {
  const authority = await createTestAuthority()
  const { lines } = await logged(t, authority.options)
  assert.deepEqual(lines, [])
})

test('the keys of another server make no noise', async (t) => {
  const { publicKeys, issuer, audience } = await createTestAuthority()
  const keys = publicKeys.keys.map((key) => ({ ...key, kid: 'main' }))
  const server = await KeyServer.start(() => ({ keys }))
  t.after(() => server.close())
  const { lines } = await logged(t, { publicKeysUrl: server.url, issuer, audience })
  assert.deepEqual(lines, [])
})
