import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from './own-way.ts'

test('a stranger learns from the 401 where to read whose tokens are accepted', async (t) => {
  const issuer = 'http://127.0.0.1:9'
  const app = await createApp(issuer)
  t.after(() => app.close())
  const { headers } = await app.inject('/acme/menu')
  const document = /resource_metadata="(.+)"/.exec(String(headers['www-authenticate']))?.[1]
  const found = (await app.inject(new URL(document ?? '').pathname)).json()
  assert.equal(found.resource, 'https://api.example.com/mcp')
  assert.deepEqual(found.authorization_servers, [issuer])
})
