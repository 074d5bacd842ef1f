import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conclude } from '../../lib/guard/conclude.ts'
import { type AuthOptions, errors } from '../../lib/index.ts'
import { askedAgain, decidedRequest } from '../helpers/app/decided-request.ts'
import { as } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { logLines } from '../helpers/app/log-lines.ts'

const REFUSAL = new errors.ERR_AUTH_TENANT_FORBIDDEN()
const { code } = REFUSAL

/** How a request was decided: with which error, and for which tenant. */
type Decided = readonly [error: typeof REFUSAL | null, tenant: string]

/** Two decisions on one request, and what is told of the second. */
const TWICE: readonly [what: string, first: Decided | null, second: Decided, told: string[]][] = [
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
  test(`of ${what} is told: ${expected.join() || 'nothing'}`, async (t) => {
    const { app, asked } = await decidedRequest(t, await as())
    const before = askedAgain(asked)
    if (first !== null) {
      before.tenant = first[1]
      conclude(before, first[0])
    }
    const { admitted } = app.authService.stats().decisions
    const refusals = app.authService.stats().decisions.refused[code] ?? 0
    const told = heard(t, 'decision')
    const again = askedAgain(asked, first === null ? null : before)
    again.tenant = tenant
    conclude(again, error)
    assert.deepEqual(
      told.map(({ outcome }) => outcome),
      expected,
    )
    assert.equal(again.outcome, error === null ? 'admitted' : 'refused')
    const { decisions } = app.authService.stats()
    const counted = [decisions.admitted - admitted, (decisions.refused[code] ?? 0) - refusals]
    const kinds = ['admitted', 'refused'].map((kind) => Number(expected.includes(kind)))
    assert.deepEqual(counted, kinds)
  })
}

test('what is concluded twice in one asking is told once, and a change is told', async (t) => {
  const { asked } = await decidedRequest(t, await as())
  const told = heard(t, 'decision')
  const again = askedAgain(asked)
  for (const error of [REFUSAL, REFUSAL, null, null]) conclude(again, error)
  assert.deepEqual(
    told.map(({ outcome }) => outcome),
    ['refused', 'admitted'],
  )
})

for (const [what, options, isBound] of [
  ['with', { logBindings: ['sub'] }, true],
  ['without', {}, false],
] as const satisfies readonly [string, AuthOptions, boolean][]) {
  test(`the log ${what} bindings is ${isBound ? '' : 'not '}bound`, async (t) => {
    const { logger } = logLines()
    const { asked } = await decidedRequest(t, await as(), options, { logger })
    const again = askedAgain(asked)
    conclude(again, null)
    assert.equal(again.plainLog !== null, isBound)
  })
}
