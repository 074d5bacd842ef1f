import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { localProofTable } from '../../lib/identity/proofs/proof-table.ts'
import { assertUnproved, boundApp, challengesOf } from '../helpers/app/bound-app.ts'
import { assertNoLeak, textOf } from '../helpers/app/canaries.ts'
import { as } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { neverAnswering } from '../helpers/app/never-answering.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { boundToken, HOLDER, hashOf, proofOf, provedBy } from '../helpers/tokens/bound.ts'

const UNAVAILABLE = '503 ERR_AUTH_PROOFS_UNAVAILABLE'

test('proofSeen is asked with the key of the proof and its end, once for a request', async (t) => {
  for (const proofMaxAge of [300, 5, 600]) {
    const asked: [key: string, until: Date][] = []
    const proofSeen = (...all: [string, Date]) => asked.push(all) > 0
    const app = await boundApp(t, { proofSeen, proofMaxAge })
    const token = await boundToken()
    const iat = Math.floor(Date.now() / 1000) - 2
    const headers = provedBy(HOLDER, token, { claims: { jti: 'a jti é', iat } })
    assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
    const key = `${HOLDER.thumbprint}.${hashOf('a jti é')}`
    assert.deepEqual(asked, [[key, new Date((iat + proofMaxAge) * 1000)]])
    assert.match(key, /^[\w-]{43}\.[\w-]{43}$/)
  }
})

/** Answers of the function, and of the guard. */
const ANSWERS: readonly [what: string, answer: () => unknown, expected: string][] = [
  ['true', () => true, '200'],
  ['a promise of true', async () => true, '200'],
  ['false', () => false, '401'],
  ['a promise of false', async () => false, '401'],
  ['undefined', () => undefined, UNAVAILABLE],
  ['null', () => null, UNAVAILABLE],
  ['1', () => 1, UNAVAILABLE],
  ['0', () => 0, UNAVAILABLE],
  ['an empty text', () => '', UNAVAILABLE],
  ['OK', () => 'OK', UNAVAILABLE],
  ['true as a text', () => 'true', UNAVAILABLE],
  ['an object', () => ({}), UNAVAILABLE],
  ['an object of Boolean', () => Object(true), UNAVAILABLE],
  ['a function', () => () => true, UNAVAILABLE],
  ['a promise of undefined', async () => undefined, UNAVAILABLE],
  ['a promise of 1', async () => 1, UNAVAILABLE],
  ['a promise of OK', async () => 'OK', UNAVAILABLE],
  [
    'an error',
    () => {
      throw new Error('down')
    },
    UNAVAILABLE,
  ],
  [
    'a thrown text',
    () => {
      throw 'down'
    },
    UNAVAILABLE,
  ],
  [
    'thrown undefined',
    () => {
      throw undefined
    },
    UNAVAILABLE,
  ],
  ['a rejection', () => Promise.reject(new Error('down')), UNAVAILABLE],
  ['a rejection with true', () => Promise.reject(true), UNAVAILABLE],
  [
    'an error that is thrown with a status of its own',
    () => {
      throw Object.assign(new Error('down'), { statusCode: 200, code: 'OK' })
    },
    UNAVAILABLE,
  ],
]

for (const [what, answer, expected] of ANSWERS) {
  test(`proofSeen that gives ${what} makes ${expected}, and no more`, async (t) => {
    const { logger, lines, raw, messages } = logLines()
    const app = await boundApp(t, { proofSeen: answer }, { logger })
    const token = await boundToken()
    for (const url of ['/me', '/guests']) {
      const before = lines('request refused').length
      const warned = messages(40).length
      const headers = provedBy(HOLDER, token, { url })
      const response = await app.inject({ url, headers })
      assertNoLeak([textOf(response), ...raw], token)
      assertNoLeak([textOf(response), ...raw], headers.dpop)
      const reason = String(lines('request refused').at(-1)?.['reason'])
      if (expected === '200') assert.equal(outcome(response), '200')
      else if (expected === '401') {
        assertUnproved(response, 'invalid_dpop_proof')
        assert.equal(reason, 'DPoP proof: it has been seen before')
      } else {
        assert.match(reason, /^proofSeen \w/)
        assert.equal(outcome(response), UNAVAILABLE)
        assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/)
        assert.equal(response.headers['cache-control'], 'no-store')
        assert.deepEqual(challengesOf(response).lines, [])
        assert.equal(lines('request refused').length, before + 1)
        assert.ok(messages(40).length > warned, 'no warning')
      }
    }
  })
}

/** Seconds over a whole one, at which a client makes its proof. */
const FRACTIONS = [0, 0.5, 0.0009, 1 / 3, 0.9999, 0.123456]

for (const fraction of FRACTIONS) {
  test(`a store that forgets at the end lets no proof in again: ${fraction} s`, async (t) => {
    const now = 1_800_000_000
    t.mock.timers.enable({ apis: ['Date'], now: now * 1000 })
    const held = new Map<string, Date>()
    const proofSeen = (key: string, until: Date) => {
      const before = held.get(key)
      if (before !== undefined && Date.now() < before.getTime()) return false
      held.set(key, until)
      return true
    }
    const app = await boundApp(t, { proofSeen })
    const token = await boundToken(HOLDER, {}, { expiresIn: 3600 })
    const headers = provedBy(HOLDER, token, { claims: { iat: now + fraction } })
    assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
    const [until] = held.values()
    assert.ok(until, 'it was not asked')
    for (const milliseconds of [-1, 0, 1, 2]) {
      t.mock.timers.setTime(until.getTime() + milliseconds)
      const response = await app.inject({ url: '/me', headers })
      assertUnproved(response, 'invalid_dpop_proof', 'DPoP', `${milliseconds} ms after its end`)
    }
  })
}

test('a store that is asked before the end, and looks after it, lets no proof in again', async (t) => {
  const now = 1_800_000_000
  t.mock.timers.enable({ apis: ['Date'], now: now * 1000 })
  const held = new Map<string, Date>()
  // The way to the store takes 20 ms, and there an entry ends at its time.
  const proofSeen = async (key: string, until: Date) => {
    await new Promise(setImmediate)
    t.mock.timers.setTime(Date.now() + 20)
    const before = held.get(key)
    if (before !== undefined && Date.now() >= before.getTime()) held.delete(key)
    if (held.has(key)) return false
    held.set(key, until)
    return true
  }
  const { logger, lines } = logLines()
  const app = await boundApp(t, { proofSeen }, { logger })
  const token = await boundToken(HOLDER, {}, { expiresIn: 3600 })
  const headers = provedBy(HOLDER, token, { claims: { iat: now } })
  assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
  t.mock.timers.setTime((now + 300) * 1000 - 10)
  assertUnproved(await app.inject({ url: '/me', headers }), 'invalid_dpop_proof')
  assert.equal(lines('request refused')[0]?.['reason'], 'DPoP proof: of another time')
})

test('a table that is full makes 503, and lets nothing in', async (t) => {
  const { logger, lines } = logLines()
  const app = await boundApp(t, { proofSeen: localProofTable({ max: 4 }) }, { logger })
  const token = await boundToken()
  const ask = async () =>
    outcome(await app.inject({ url: '/me', headers: provedBy(HOLDER, token) }))
  for (const _ of [1, 2, 3, 4]) assert.equal(await ask(), '200')
  for (const count of [1, 2]) {
    assert.equal(await ask(), UNAVAILABLE)
    assert.equal(lines('request refused').length, count)
  }
  assert.equal(outcome(await app.inject({ url: '/me', headers: await as() })), '200')
})

test('proofSeen is late after tenantsTimeout, and that is 503 and not 200', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() })
  const { ask: proofSeen, isAsked } = neverAnswering()
  const app = await boundApp(t, { proofSeen, tenantsTimeout: 7 })
  const headers = provedBy(HOLDER, await boundToken())
  let isOver = false
  const asked = app.inject({ url: '/me', headers }).finally(() => {
    isOver = true
  })
  await isAsked
  t.mock.timers.tick(6900)
  for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate)
  assert.equal(isOver, false)
  t.mock.timers.tick(100)
  assert.equal(outcome(await asked), UNAVAILABLE)
})

test('a proof is good again where the store was away, and not skipped meanwhile', async (t) => {
  let isAway = true
  const seen = new Set<string>()
  const proofSeen = (key: string) => {
    if (isAway) throw new Error('away')
    const isNew = !seen.has(key)
    seen.add(key)
    return isNew
  }
  const app = await boundApp(t, { proofSeen })
  const headers = provedBy(HOLDER, await boundToken())
  assert.equal(outcome(await app.inject({ url: '/me', headers })), UNAVAILABLE)
  assert.equal(outcome(await app.inject({ url: '/me', headers: await as() })), '200')
  isAway = false
  assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
  assertUnproved(await app.inject({ url: '/me', headers }), 'invalid_dpop_proof')
})

test('a good proof is asked for before revocation and tenants, and a bad one never', async (t) => {
  const order: string[] = []
  const noted = (what: string, answer: boolean) => () => order.push(what) > 0 && answer
  const app = await boundApp(t, {
    proofSeen: noted('proof', true),
    isRevoked: noted('revocation', false),
    tenants: noted('tenants', true),
  })
  const url = '/t/lazy-raccoon'
  const token = await boundToken()
  await app.inject({ url, headers: provedBy(HOLDER, token, { url: '/t/quiet-otter' }) })
  assert.deepEqual(order, [])
  assert.equal(outcome(await app.inject({ url, headers: provedBy(HOLDER, token, { url }) })), '200')
  assert.deepEqual(order, ['proof', 'revocation', 'tenants'])
})

test('a request is asked for once, with checks, hooks, and a body that comes slowly', async (t) => {
  let count = 0
  const proofSeen = async () => {
    count += 1
    return count === 1
  }
  const checks = { late: async () => true, later: async () => true }
  const app = await boundApp(t, { proofSeen, checks, isRevoked: async () => false })
  for (const hook of ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const) {
    app.addHook(hook, async (_request: FastifyRequest) => void (await new Promise(setImmediate)))
  }
  const config = { tenant: true, check: ['late', 'later'], require: 'order:read' }
  app.post('/slow/:tenant', { config: { ...config } }, async ({ body }) => body)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = '/slow/lazy-raccoon'
  const token = await boundToken()
  const proof = proofOf(HOLDER, { token, url, method: 'POST' })
  const sent = httpRequest(app.listeningOrigin + url, {
    method: 'POST',
    headers: {
      authorization: `DPoP ${token}`,
      dpop: proof,
      'content-type': 'application/json',
      'content-length': '7',
    },
  })
  sent.write('{"a"')
  await new Promise((resolve) => setTimeout(resolve, 100))
  sent.end(':1}')
  const [response] = await once(sent, 'response')
  response.resume()
  assert.equal(response.statusCode, 200)
  assert.equal(count, 1)
})
