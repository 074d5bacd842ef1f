import assert from 'node:assert/strict'
import { test } from 'node:test'
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
