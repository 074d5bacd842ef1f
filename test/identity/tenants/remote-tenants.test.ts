import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERR_AUTH_TENANTS_UNAVAILABLE } from '../../../lib/errors.ts'
import { RemoteTenants, readTenantList } from '../../../lib/identity/tenants/remote-tenants.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'
import { Unusable } from '../../../lib/platform/http/failure.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'
import { until } from '../../helpers/processes/until.ts'
import { FRESHNESS } from '../../helpers/servers/controlled-document.ts'
import { json, tenantServer } from '../../helpers/servers/tenant-server.ts'

test('the state of the list is shown, before it came, once it is there, and when it fails', async (t) => {
  holdTime(t, { apis: ['Date'], now: 0 })
  const server = await tenantServer('["acme"]')
  const failures: string[] = []
  const events = { onFailure: (reason: string) => failures.push(reason) }
  const tenants = new RemoteTenants(server.url, { ...FRESHNESS, timeout: 60 }, events)
  t.after(() => tenants.close())
  assert.deepEqual(tenants.state(), { state: 'none', age: null, failure: null })
  tenants.open()
  assert.equal(await tenants.stateOf('acme', new PendingRequests()), true)
  assert.deepEqual(tenants.state(), { state: 'fresh', age: 0, failure: null })
  server.answer = json('', 500)
  t.mock.timers.setTime(600_000)
  assert.equal(tenants.isReady, true)
  await until(() => failures.length === 1)
  const failure = 'answered with status 500'
  assert.deepEqual(tenants.state(), { state: 'stale', age: 600, failure })
})

/** A list that is padded to a number of bytes. */
const listOf = (bytes: number) => '["acme"]'.padEnd(bytes)

test('a list may have 1 MiB, and is looked at without a wait once it is there', async (t) => {
  const server = await tenantServer(listOf(1024 * 1024))
  const tenants = new RemoteTenants(server.url, { ...FRESHNESS, timeout: 60 }, { onFailure() {} })
  t.after(() => tenants.close())
  tenants.open()
  const later = tenants.stateOf('acme', new PendingRequests())
  assert.equal(later instanceof Promise, true)
  assert.equal(await later, true)
  assert.equal(tenants.stateOf('acme', new PendingRequests()), true)
  assert.equal(tenants.stateOf('other', new PendingRequests()), false)
})

test('a list of one byte more is none, and the error says when to ask again', async (t) => {
  const server = await tenantServer(listOf(1024 * 1024 + 1))
  const failures: string[] = []
  const events = { onFailure: (reason: string) => failures.push(reason) }
  const tenants = new RemoteTenants(server.url, { ...FRESHNESS, timeout: 60 }, events)
  t.after(() => tenants.close())
  tenants.open()
  await assert.rejects(
    async () => tenants.stateOf('acme', new PendingRequests()),
    (error) =>
      error instanceof ERR_AUTH_TENANTS_UNAVAILABLE &&
      error.retryAfter > 0 &&
      error.retryAfter <= FRESHNESS.retry,
  )
  assert.deepEqual(failures, ['the answer is too large'])
})

test('closing ends the fetch that is under way', async (_t) => {
  const server = await tenantServer('[]')
  let isCut = false
  server.answer = (response) => {
    response.write('[')
    response.once('close', () => {
      isCut = true
    })
  }
  const tenants = new RemoteTenants(server.url, { ...FRESHNESS, timeout: 60 }, { onFailure() {} })
  tenants.open()
  await until(() => server.count === 1)
  tenants.close()
  await until(() => isCut)
})

const REASON = 'the answer is no JSON array of tenant names'

const lists: [text: string, states: Record<string, true | 'suspended'>][] = [
  ['[]', {}],
  [' [ ] \n', {}],
  ['\t[ "a" ,\r\n"b" ]', { a: true, b: true }],
  ['["a","a"]', { a: true }],
  ['["\\u0061","ä","🦝"]', { a: true, ä: true, '🦝': true }],
  [`["${'\\u0061'.repeat(255)}"]`, { ['a'.repeat(255)]: true }],
  ['["a",{"name":"old","state":"suspended"}]', { a: true, old: 'suspended' }],
  ['[{"since":7,"state":"suspended","name":"old"}]', { old: 'suspended' }],
]

for (const [text, states] of lists) {
  test(`${text.trim().slice(0, 40)} lists ${Object.keys(states).length} tenants`, () => {
    assert.deepEqual([...readTenantList(text)], Object.entries(states))
  })
}

const others = [
  '',
  'null',
  '"[]"',
  '{"a":[]}',
  '["a"]]',
  '["a",["b","c"],"d"]',
  '["a",]',
  '["a"',
  '["a","b]',
  '["a\\","b"]',
  '["a"]x',
  '\ufeff["a"]',
  '["a"]//',
  "['a']",
  '["a","*"]',
  '["a","\\u0000"]',
  '["a","\\u0085"]',
  `["${'a'.repeat(256)}"]`,
  `["${'\\u0061'.repeat(256)}"]`,
  '["a\\',
  '["\\x"]',
  '[{"name":"a"}]',
  '[{"name":"a","state":"active"}]',
  '[{"name":"a","state":true}]',
  '[{"name":"*","state":"suspended"}]',
  '[{"state":"suspended"}]',
  '[["a","suspended"]]',
  '["a",{"name":"a","state":"suspended"}]',
  '[{"name":"a","state":"suspended"},"a"]',
  '[7]',
  '[null]',
]

for (const text of others) {
  test(`${JSON.stringify(text).slice(0, 60)} is not a list of tenants`, () => {
    assert.throws(
      () => readTenantList(text),
      (error: unknown) => {
        assert.ok(error instanceof Unusable, `${error}`)
        assert.equal(error.message, REASON)
        return true
      },
    )
  })
}
