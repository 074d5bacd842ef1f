import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import tenantAuth, { signalOf } from '../../lib/index.ts'
import { denyList } from '../../lib/revocation.ts'
import { as, bareApp, trusting } from '../helpers/app/guarded-app.ts'

/** Whether the signal of a request is aborted, and how often its listener hears so. */
async function seenOf(request: FastifyRequest): Promise<[isAborted: boolean, heard: number]> {
  const signal = signalOf(request)
  let heard = 0
  signal.addEventListener('abort', () => heard++)
  await new Promise(setImmediate)
  return [signal.aborted, heard]
}

test('a signal is live where a request goes on, and tells of an end that came before', async (t) => {
  const seen: Record<string, unknown> = {}
  const app = bareApp(t)
  app.addHook('onRequest', async (request) => {
    seen['not decided'] = await seenOf(request)
  })
  await app.register(tenantAuth, trusting())
  app.addHook('onError', async (request) => {
    seen['refused'] = await seenOf(request)
  })
  app.get('/x', async (request) => {
    seen['let through'] = await seenOf(request)
  })
  app.get('/open', { config: { noauth: true } }, async (request) => {
    seen['open'] = await seenOf(request)
  })
  for (const url of ['/x', '/open']) await app.inject({ url, headers: await as() })
  await app.inject('/x')
  assert.deepEqual(seen, {
    'not decided': [true, 1],
    refused: [true, 1],
    'let through': [false, 0],
    open: [false, 0],
  })
})

test('a request has one signal, which is let go when its response has ended', async (t) => {
  const isRevoked = denyList()
  const app = bareApp(t)
  await app.register(tenantAuth, trusting({ isRevoked }))
  const signals: AbortSignal[] = []
  const closed: Promise<unknown>[] = []
  app.get('/x', async (request, reply) => {
    signals.push(signalOf(request), signalOf(request))
    closed.push(once(reply.raw, 'close'))
    return 'x'
  })
  app.get('/revoked', async (request) => {
    const signal = signalOf(request)
    await isRevoked.add({ sub: 'test-user' })
    return { isSame: signal.reason === signalOf(request).reason, reason: signal.reason.reason }
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const headers = await as()
  await (await fetch(`${origin}/x`, { headers })).text()
  await Promise.all(closed)
  const answer = await fetch(`${origin}/revoked`, { headers })
  assert.deepEqual(await answer.json(), { isSame: true, reason: 'revoked' })
  const [first, second] = signals
  assert.equal(first === second, true, 'another signal for the same request')
  assert.equal(first?.aborted, false)
})
