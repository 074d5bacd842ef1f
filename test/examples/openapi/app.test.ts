import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestAuthority } from '../../../lib/entrypoints/testing/index.ts'
import { createDocumentedApp } from './app.ts'

test('the page, its assets and the document need no token, and everything else does', async (t) => {
  const app = await createDocumentedApp((await createTestAuthority()).options)
  t.after(() => app.close())
  const page = await app.inject('/docs/')
  assert.equal(page.statusCode, 200)
  const assets = [...page.body.matchAll(/(?:src|href)="\.?\/?([^"]+)"/g)].map(([, path]) => path)
  assert.ok(assets.length > 4, `${assets.length} assets`)
  for (const path of [...assets.map((asset) => `/docs/${asset}`), '/docs/json', '/docs/yaml']) {
    assert.equal((await app.inject(path.replace('/docs/docs/', '/docs/'))).statusCode, 200, path)
  }
  for (const path of ['/orders', '/lazy-raccoon/todays-menu', '/docs/todays-menu']) {
    assert.equal((await app.inject(path)).statusCode, 401, path)
  }
  const open = app.authService.routes().filter(({ noauth }) => noauth !== false)
  assert.deepEqual(
    open.filter(({ url }) => url !== '/health' && !url.startsWith('/docs')),
    [],
  )
})

test('the document shows which operations need a token, and which need a tenant', async (t) => {
  const app = await createDocumentedApp((await createTestAuthority()).options)
  t.after(() => app.close())
  const { paths } = (await app.inject('/docs/json')).json()
  assert.deepEqual(Object.keys(paths), ['/health', '/{tenant}/todays-menu', '/orders'])
  assert.deepEqual(paths['/health'].get.security, [])
  for (const path of ['/{tenant}/todays-menu', '/orders']) {
    assert.deepEqual(paths[path].get.security, [{ bearerAuth: [] }])
    assert.equal(paths[path].get.parameters[0].name, 'tenant')
  }
})
