import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AuthContext, authContextOf } from '../../lib/guard/context.ts'
import { recordDecision } from '../../lib/guard/decision-events.ts'
import { errors } from '../../lib/index.ts'
import { as, guardedApp } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'

const REFUSAL = new errors.ERR_AUTH_TENANT_FORBIDDEN()
const { code } = REFUSAL

/** How a request was decided: with which error, and for which tenant. */
type Decided = readonly [error: typeof REFUSAL | null, tenant: string]

/** A request for the tenant `lazy-raccoon`, as the guard of an application has decided it. */
async function decidedRequest(t: TestContext) {
  const app = await guardedApp(t)
  let context: AuthContext | null | undefined
  app.addHook('onSend', async (request) => {
    context = authContextOf(request)
  })
  app.get('/:tenant/x', async () => 'x')
  await app.inject({ url: '/lazy-raccoon/x', headers: await as() })
  assert.ok(context, 'the request was decided')
  return { app, context }
}

/** The same request and its user, not decided yet. */
function decidedAgain(context: AuthContext, before: AuthContext | null = null): AuthContext {
  const again = new AuthContext(context, context.policy, context.rules, before)
  again.principal = context.principal
  return again
}

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
    const { app, context } = await decidedRequest(t)
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
    const found = reported.map(({ outcome }) => outcome)
    assert.deepEqual(found, expected)
    const { decisions } = app.authService.stats()
    const counted = [decisions.admitted - admitted, (decisions.refused[code] ?? 0) - refusals]
    const kinds = ['admitted', 'refused'].map((kind) => Number(expected.includes(kind)))
    assert.deepEqual(counted, kinds)
  })
}

test('a user who is a guest by now is another admission, and a guest who stays one is none', async (t) => {
  const { context } = await decidedRequest(t)
  const reported = heard(t, 'decision')
  let before: AuthContext | null = null
  for (const principal of [context.principal, null, null]) {
    const again: AuthContext = decidedAgain(context, before)
    again.principal = principal
    decideWith(again, null)
    before = again
  }
  const found = reported.map(({ outcome, sub }) => [outcome, sub])
  assert.deepEqual(found, [
    ['admitted', 'test-user'],
    ['admitted', null],
  ])
})
