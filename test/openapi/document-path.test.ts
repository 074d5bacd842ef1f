import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatParamUrl } from '@fastify/swagger'
import fc from 'fast-check'
import { documentPath, withoutBasePaths } from '../../lib/openapi/find-policies.ts'

const FORMS = [
  ['/menus', '/menus'],
  ['/:tenant/menus', '/{tenant}/menus'],
  ['/:tenant?', '/{tenant}?'],
  ['/files/*', '/files/{*}'],
  ['/:tenant(^[a-z(-)]+$)/menus', '/{tenant}/menus'],
  ['/at/:hour(^\\d{2})h:minute(^\\d{2})m', '/at/{hour}h{minute}m'],
  ['/:from-:to', '/{from}-{to}'],
  ['/picture/:id(^\\d+).png', '/picture/{id}.png'],
  ['/orders::cancel', '/orders:cancel'],
] as const

for (const [url, path] of FORMS) {
  test(`${url} is ${path} in a document`, () => {
    assert.equal(documentPath(url), path)
    assert.equal(formatParamUrl(url), path)
  })
}

test('Any url becomes what @fastify/swagger makes of it', () => {
  const part = fc.constantFrom(...':()/*-.?^\\{}_é', '::', 'a', '7', ':tenant', '(^a$)')
  const url = fc.array(part, { maxLength: 12 }).map((parts) => `/${parts.join('')}`)
  fc.assert(fc.property(url, (any) => assert.equal(documentPath(any), formatParamUrl(any))))
})

test('Base paths are taken off one after the other, and only at the beginning', () => {
  assert.equal(withoutBasePaths('/api/v1/menus/api', ['/api', '/v1']), '/menus/api')
  assert.equal(withoutBasePaths('/menus/api', ['/api']), '/menus/api')
})
