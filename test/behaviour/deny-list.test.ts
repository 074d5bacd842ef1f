import assert from 'node:assert/strict'
import { test } from 'node:test'
import { denyList } from '../../lib/revocation.ts'
import { until } from '../helpers/processes/until.ts'
import { EntryLog } from '../helpers/servers/entry-log.ts'
import { assertTokenRefused, goodToken, ISSUER, startProbe } from '../helpers/tokens/probe.ts'

test('a deny list as isRevoked refuses the tokens that its entries fit, cached ones too', async (t) => {
  const isRevoked = denyList()
  const probe = await startProbe(t, { isRevoked })
  const [alice, bob] = [goodToken(), goodToken({ sub: 'bob' })]
  assert.equal((await probe.ask(alice)).statusCode, 200)
  await isRevoked.add({ sub: 'alice', issuer: ISSUER })
  assertTokenRefused(await probe.ask(alice), 'alice')
  assert.equal((await probe.ask(bob)).statusCode, 200)
})

test('a token that outlives maxLifetime is refused, and the log says why once', async (t) => {
  const probe = await startProbe(t, { isRevoked: denyList({ maxLifetime: 299 }) })
  for (let again = 0; again < 2; again++) assertTokenRefused(await probe.ask(goodToken()), 'long')
  const told = probe.log.filter((line) => line.includes('lives longer than maxLifetime'))
  assert.equal(told.length, 1)
})

test('a service is ready when its deny list is, and answers 503 before', async (t) => {
  const log = new EntryLog()
  const answers: (() => void)[] = []
  log.onAnswer = (answer) => new Promise((resolve) => answers.push(() => resolve(answer)))
  const isRevoked = denyList({ changes: log.changes })
  const probe = await startProbe(t, { isRevoked })
  assert.equal(probe.service.isReady(), false)
  const response = await probe.ask(goodToken())
  assert.equal(response.statusCode, 503)
  assert.equal(response.json().code, 'ERR_AUTH_REVOCATION_UNAVAILABLE')
  assert.ok(
    probe.log.some((line) => line.includes('ERR_DENY_LIST_NOT_LOADED')),
    'the log says why',
  )
  answers[0]?.()
  await until(() => probe.service.isReady())
  assert.equal((await probe.ask(goodToken())).statusCode, 200)
})

test('two services share a list, which ends with the last of them', async (t) => {
  const log = new EntryLog()
  const isRevoked = denyList({ changes: log.changes, interval: 0.1 })
  const first = await startProbe(t, { isRevoked })
  const second = await startProbe(t, { isRevoked })
  await until(() => second.service.isReady())
  await first.app.close()
  const asked = log.asked.length
  await until(() => log.asked.length > asked)
  await second.app.close()
  const last = log.asked.length
  isRevoked.wake()
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.equal(log.asked.length, last)
})
