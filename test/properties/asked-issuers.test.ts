import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth from '../../lib/index.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { holds } from '../helpers/arbitraries/property.ts'
import { ageByDate } from '../helpers/processes/age-by-date.ts'

const ISSUER = 'https://acme.test'
const AGE = { issuersMaxAge: 300, keysMaxStale: 900, keysCooldown: 30, tenantsTimeout: 5 }
const authority = await createTestAuthority({ issuer: ISSUER, audience: 'lunch' })
const { publicKeys } = authority
const TENANTS = ['a', 'b'] as const
const resources = { a: [], b: [] }

/** One token stays in the cache, if it gets there; the others are new. */
const tokens = await Promise.all(
  Array.from({ length: 60 }, (_, n) =>
    authority.token({ jti: `${n}`, resources }, { expiresIn: 10 * 86_400 }),
  ),
)

/** What a row may be. A wrong one is no answer, whatever else it says. */
const PINS = ['a', 'b', 'a b'] as const
const WRONG: readonly object[] = [
  { tenants: [] },
  { issuer: 'https://other.test' },
  { publicKeys: { keys: [] } },
  { audience: undefined },
  { unknown: 1 },
]

type Answer =
  | { readonly kind: 'pin'; readonly pin: (typeof PINS)[number] }
  | { readonly kind: 'wrong'; readonly which: number }
  | { readonly kind: 'gone' }
  | { readonly kind: 'thrown' }
  | { readonly kind: 'late' }

type Step =
  | { readonly do: 'answer'; readonly answer: Answer }
  | { readonly do: 'pass'; readonly seconds: number }
  | { readonly do: 'forget' }
  | { readonly do: 'ask'; readonly tenant: 'a' | 'b'; readonly token: number }

const answers: fc.Arbitrary<Answer> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pin'), pin: fc.constantFrom(...PINS) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wrong'), which: fc.nat(WRONG.length - 1) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('gone', 'thrown', 'late') }) },
) as fc.Arbitrary<Answer>

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('answer'), answer: answers }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('pass'),
      seconds: fc.constantFrom(0.5, 1, 3, 6, 29, 31, 61, 239, 241, 299, 300, 600, 899, 1200, 1300),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget') }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('ask'),
      tenant: fc.constantFrom(...TENANTS),
      token: fc.oneof(fc.constant(0), fc.nat(tokens.length - 1)),
    }),
  },
) as fc.Arbitrary<Step>

/** Seconds of the contract, written down again. */
const { issuersMaxAge: FRESH, keysMaxStale: STALE, keysCooldown: COOLDOWN } = AGE
const { tenantsTimeout: TIMEOUT } = AGE
const REST = 1

/**
 * The contract of a function's answers in the plainest way: one row, one clock, one request at a
 * time, and an answer that comes within the same moment.
 */
class Model {
  #now = 0
  #answer: Answer = { kind: 'gone' }
  #kept: { pin: string; renewAt: number; freshUntil: number; goodUntil: number } | undefined
  #goneUntil = Number.NEGATIVE_INFINITY

  pass(seconds: number): void {
    this.#now += seconds
  }

  answer(answer: Answer): void {
    this.#answer = answer
  }

  forget(): void {
    if (this.#kept) this.#kept.freshUntil = this.#kept.goodUntil = Number.NEGATIVE_INFINITY
    this.#goneUntil = Number.NEGATIVE_INFINITY
  }

  /** @param isLater whether the function's answers are promises */
  ask(tenant: string, isLater: boolean): number {
    const before = this.#kept
    if (before === undefined || this.#now >= before.freshUntil) {
      if (this.#now < this.#goneUntil) return 401
      const status = this.#learn()
      if (status !== 200) return status
    } else if (this.#now >= before.renewAt) {
      // In the background: a request waits for no answer that comes later.
      const { pin } = before
      const status = this.#learn()
      if (isLater) return allowed(pin, tenant)
      if (status !== 200) return status
    }
    return allowed(this.#kept?.pin ?? '', tenant)
  }

  /** Seconds that the question takes. */
  takes(): number {
    const isFresh = this.#kept !== undefined && this.#now < this.#kept.freshUntil
    const isAsked = isFresh ? this.#now >= (this.#kept?.renewAt ?? 0) : this.#now >= this.#goneUntil
    return isAsked && this.#answer.kind === 'late' ? TIMEOUT : 0
  }

  #learn(): number {
    const answer = this.#answer
    const asked = this.#now
    if (answer.kind === 'late') this.#now += TIMEOUT
    if (answer.kind === 'thrown' || answer.kind === 'late') return this.#lastGood()
    this.#kept = undefined
    if (answer.kind === 'wrong') return 503
    if (answer.kind === 'gone') {
      this.#goneUntil = asked + COOLDOWN
      return 401
    }
    this.#goneUntil = Number.NEGATIVE_INFINITY
    const freshUntil = asked + FRESH
    const renewAt = asked + FRESH * 0.8
    this.#kept = { pin: answer.pin, renewAt, freshUntil, goodUntil: freshUntil + STALE }
    return 200
  }

  #lastGood(): number {
    const kept = this.#kept
    if (kept === undefined || this.#now >= kept.goodUntil) return 503
    kept.renewAt = this.#now + REST
    const until = Math.min(kept.renewAt + TIMEOUT, kept.goodUntil)
    kept.freshUntil = Math.max(kept.freshUntil, until)
    return 200
  }
}

function allowed(pin: string, tenant: string): number {
  return pin.split(' ').includes(tenant) ? 200 : 403
}

/** What the application's function gives. */
function given(answer: Answer, isLater: boolean): unknown {
  if (answer.kind === 'late') return new Promise(() => {})
  if (answer.kind === 'thrown') {
    if (isLater) return Promise.reject(new Error('down'))
    throw new Error('down')
  }
  const rules = { publicKeys, audience: 'lunch', tenants: ['a', 'b'] }
  const row =
    answer.kind === 'gone'
      ? null
      : answer.kind === 'wrong'
        ? { ...rules, ...WRONG[answer.which] }
        : { ...rules, tenants: answer.pin.split(' ') }
  return isLater ? Promise.resolve(row) : row
}

const turn = () => new Promise(setImmediate)

for (const isLater of [false, true]) {
  const how = isLater ? 'later' : 'at once'
  test(`whatever a function answers ${how}, a request is decided as the contract says`, async (t) => {
    const now = Date.now()
    ageByDate(t)
    const property = fc.asyncProperty(
      fc.array(steps, { minLength: 20, maxLength: 40, size: 'max' }),
      async (list) => {
        // Time runs on within one run only, since tokens end.
        t.mock.timers.reset()
        t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now })
        const app = bareApp(t)
        const row: { answer: Answer } = { answer: { kind: 'gone' } }
        const issuers: object = { issuers: () => given(row.answer, isLater), ...AGE }
        await app.register(tenantAuth, issuers)
        app.get('/t/:tenant', async () => 'ok')
        await app.ready()
        const model = new Model()
        for (const step of list) {
          if (step.do === 'answer') {
            row.answer = step.answer
            model.answer(step.answer)
          } else if (step.do === 'pass') {
            t.mock.timers.tick(step.seconds * 1000)
            model.pass(step.seconds)
          } else if (step.do === 'forget') {
            app.authService.forget()
            model.forget()
          } else {
            const takes = model.takes()
            const expected = model.ask(step.tenant, isLater)
            const headers = { authorization: `Bearer ${tokens[step.token]}` }
            const asked = app.inject({ url: `/t/${step.tenant}`, headers })
            await turn()
            t.mock.timers.tick(takes * 1000)
            const { statusCode } = await asked
            assert.equal(statusCode, expected)
            await turn()
          }
        }
        await app.close()
      },
    )
    await holds(t, property)
  })
}
