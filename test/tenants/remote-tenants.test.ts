import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERR_AUTH_TENANTS_UNAVAILABLE } from '../../lib/errors.ts'
import { Waits } from '../../lib/outside/waits.ts'
import { RemoteTenants } from '../../lib/tenants/remote-tenants.ts'
import { ageByDate } from '../helpers/processes/age-by-date.ts'
import { until } from '../helpers/processes/until.ts'
import { FRESHNESS } from '../helpers/servers/controlled-document.ts'
import { json, tenantServer } from '../helpers/servers/tenant-server.ts'

test('the state of the list is told, before it came, once it is there, and when it fails', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 0 })
  ageByDate(t)
  const server = await tenantServer(t, '["acme"]')
  const failures: string[] = []
  const events = { onFailure: (reason: string) => failures.push(reason) }
  const tenants = new RemoteTenants(server.url, { ...FRESHNESS, timeout: 60 }, events)
  t.after(() => tenants.close())
  assert.deepEqual(tenants.state(), { state: 'none', age: null, failure: null })
  tenants.open()
  assert.equal(await tenants.has('acme', new Waits()), true)
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

test('a list may have 16 MiB, and is looked at without a wait once it is there', async (t) => {
  const server = await tenantServer(t, listOf(16 * 1024 * 1024))
  const tenants = new RemoteTenants(server.url, { ...FRESHNESS, timeout: 60 }, { onFailure() {} })
  t.after(() => tenants.close())
  tenants.open()
  const later = tenants.has('acme', new Waits())
  assert.equal(later instanceof Promise, true)
  assert.equal(await later, true)
  assert.equal(tenants.has('acme', new Waits()), true)
  assert.equal(tenants.has('other', new Waits()), false)
})

test('a list of one byte more is none, and who asks is told when to ask again', async (t) => {
  const server = await tenantServer(t, listOf(16 * 1024 * 1024 + 1))
  const failures: string[] = []
  const events = { onFailure: (reason: string) => failures.push(reason) }
  const tenants = new RemoteTenants(server.url, { ...FRESHNESS, timeout: 60 }, events)
  t.after(() => tenants.close())
  tenants.open()
  await assert.rejects(
    async () => tenants.has('acme', new Waits()),
    (error) =>
      error instanceof ERR_AUTH_TENANTS_UNAVAILABLE &&
      error.retryAfter > 0 &&
      error.retryAfter <= FRESHNESS.retry,
  )
  assert.deepEqual(failures, ['the answer is too large'])
})

test('closing ends the fetch that is under way', async (t) => {
  const server = await tenantServer(t, '[]')
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
