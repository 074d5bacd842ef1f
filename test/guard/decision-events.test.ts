import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import type { AuthContext } from '../../lib/guard/context.ts'
import { publishInternal, recordDecision } from '../../lib/guard/decision-events.ts'
import { type AuthOptions, errors } from '../../lib/index.ts'
import { decidedAgain, decidedRequest } from '../helpers/app/decided-request.ts'
import { as, authority, guardedApp } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { logLines } from '../helpers/app/log-lines.ts'

const REFUSAL = new errors.ERR_AUTH_TENANT_FORBIDDEN()
const { code } = REFUSAL

/** How a request was decided: with which error, and for which tenant. */
type Decided = readonly [error: typeof REFUSAL | null, tenant: string]

/** Records a decision. */
function decideWith(context: AuthContext, error: typeof REFUSAL | null): void {
  context.error = error
  recordDecision(context)
}

/** Two decisions on one request, and the event of the second. */
const TWICE: readonly [what: string, first: Decided | null, second: Decided, reported: string[]][] =
  [
    ['a first admission', null, [null, 'a'], ['admitted']],
    ['a first refusal', null, [REFUSAL, 'a'], ['refused']],
    ['a second admission', [null, 'a'], [null, 'a'], []],
    ['an admission for another tenant', [null, 'a'], [null, 'b'], ['admitted']],
    ['a refusal after an admission', [null, 'a'], [REFUSAL, 'a'], ['refused']],
    ['an admission after a refusal', [REFUSAL, 'a'], [null, 'a'], ['admitted']],
    ['a second refusal', [REFUSAL, 'a'], [REFUSAL, 'a'], []],
    ['a second refusal for another tenant', [REFUSAL, 'a'], [REFUSAL, 'b'], []],
  ]

for (const [what, first, [error, tenant], expected] of TWICE) {
  test(`${what}: ${expected.join() || 'nothing'} is published`, async (t) => {
    const { app, context } = await decidedRequest(t, await as())
    const before = decidedAgain(context)
    if (first !== null) {
      before.tenant = first[1]
      decideWith(before, first[0])
    }
    const { admitted } = app.authService.stats().decisions
    const refusals = app.authService.stats().decisions.refused[code] ?? 0
    const reported = heard(t, 'decision')
    const again = decidedAgain(context, first === null ? null : before)
    again.tenant = tenant
    decideWith(again, error)
    assert.deepEqual(
      reported.map(({ outcome }) => outcome),
      expected,
    )
    const { decisions } = app.authService.stats()
    const counted = [decisions.admitted - admitted, (decisions.refused[code] ?? 0) - refusals]
    const kinds = ['admitted', 'refused'].map((kind) => Number(expected.includes(kind)))
    assert.deepEqual(counted, kinds)
  })
}

for (const [what, options, isBound] of [
  ['with', { logBindings: ['sub'] }, true],
  ['without', {}, false],
] as const satisfies readonly [string, AuthOptions, boolean][]) {
  test(`the log ${what} bindings is ${isBound ? '' : 'not '}bound`, async (t) => {
    const { logger } = logLines()
    const { context } = await decidedRequest(t, await as(), options, { logger })
    const again = decidedAgain(context)
    decideWith(again, null)
    assert.equal(again.plainLog !== null, isBound)
  })
}

const NOBODY = {
  ...{ issuer: null, sub: null, tokenSub: null, actor: null },
  ...{ tenant: null, required: null, cached: null },
}
const NO_ERROR = { code: null, statusCode: null, reason: null }

test('an event holds all that is known of a decision, and is immutable', async (t) => {
  const reported = heard(t, 'decision')
  const app = await guardedApp(t)
  const requests: FastifyRequest[] = []
  app.addHook('onResponse', async (request) => void requests.push(request))
  app.get('/:tenant/x', { config: { require: 'order:read' } }, async () => 'x')
  app.get('/x', async () => 'x')
  const act = { sub: 'desk', iss: 'https://desk.test' }
  const headers = await as(undefined, { sub: 'alice', act })
  for (const url of ['/lazy-raccoon/x', '/x', '/quiet-otter/x']) await app.inject({ url, headers })
  await app.inject('/lazy-raccoon/x')
  const { issuer } = authority.options
  const actor = { sub: 'desk', issuer: 'https://desk.test' }
  const alice = { issuer, sub: 'alice', tokenSub: 'alice', actor }
  assert.deepEqual(reported, [
    {
      ...{ request: requests[0], outcome: 'admitted', ...NO_ERROR, ...alice },
      ...{ tenant: 'lazy-raccoon', required: ['order:read'], cached: false },
    },
    {
      ...{ request: requests[1], outcome: 'admitted', ...NO_ERROR, ...alice },
      ...{ tenant: null, required: null, cached: true },
    },
    {
      ...{ request: requests[2], outcome: 'refused', code: 'ERR_AUTH_RESOURCE_MISSING' },
      ...{ statusCode: 403, reason: 'a required resource is missing', ...alice },
      ...{ tenant: 'quiet-otter', required: ['order:read'], cached: true },
    },
    {
      ...{ request: requests[3], outcome: 'refused', code: 'ERR_AUTH_TOKEN_MISSING' },
      ...{ statusCode: 401, reason: 'no bearer token', ...NOBODY },
      ...{ tenant: 'lazy-raccoon', required: ['order:read'] },
    },
  ])
  assert.deepEqual(
    reported.map((event) => Object.isFrozen(event)),
    [true, true, true, true],
  )
})

test('work without a request is published with its user and its tenant', (t) => {
  const reported = heard(t, 'decision')
  publishInternal({ sub: 'alice', tenant: 'lazy-raccoon' })
  const user = { sub: 'alice', tokenSub: 'alice', tenant: 'lazy-raccoon' }
  const event = { request: null, outcome: 'internal', ...NO_ERROR, ...NOBODY, ...user }
  assert.deepEqual(reported, [event])
  assert.equal(Object.isFrozen(reported[0]), true)
})

test('without a subscriber no message is made, so that the url is not read for it', async (t) => {
  const { context } = await decidedRequest(t, await as())
  const again = decidedAgain(context)
  let reads = 0
  again.request.params = {
    get tenant() {
      reads++
      return 'lazy-raccoon'
    },
  }
  recordDecision(again)
  assert.equal(reads, 0)
  const reported = heard(t, 'decision')
  recordDecision(again)
  assert.deepEqual([reads, reported[0]?.tenant], [1, 'lazy-raccoon'])
})
