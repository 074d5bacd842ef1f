import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { askedApp } from '../helpers/app/asked-app.ts'
import { assertRefused } from '../helpers/app/refusals.ts'

const authority = await createTestAuthority({ issuer: 'https://acme.test', audience: 'lunch' })
const { publicKeys } = authority
const RULES = { publicKeys, audience: 'lunch', tenants: ['acme', 'b'] }

/** What is no answer. Of an issuer that was known its old rules must not serve on. */
const WRONG: readonly [what: string, answer: unknown][] = [
  ['nothing', undefined],
  ['true', true],
  ['a list', [RULES]],
  ['a text', 'https://acme.test'],
  ['no tenants', { publicKeys, audience: 'lunch' }],
  ['tenants that are undefined', { ...RULES, tenants: undefined }],
  ['tenants that are null', { ...RULES, tenants: null }],
  ['an empty list of tenants', { ...RULES, tenants: [] }],
  ['a list with an empty tenant', { ...RULES, tenants: ['acme', ''] }],
  ['another issuer', { ...RULES, issuer: 'https://other.test' }],
  ['an empty key set', { ...RULES, publicKeys: { keys: [] } }],
  ['keys that are undefined', { ...RULES, publicKeys: undefined }],
  ['an audience that is undefined', { ...RULES, audience: undefined }],
  ['a mapping that is undefined', { ...RULES, mapClaims: undefined }],
  ['algorithms that nobody knows', { ...RULES, algorithms: ['none'] }],
  ['an unknown member', { ...RULES, tenant: 'acme' }],
  ['rules that are inherited', Object.create(RULES)],
  [
    'rules that throw where they are read',
    Object.defineProperty({ ...RULES }, 'tenants', {
      enumerable: true,
      get: () => assert.fail('secret'),
    }),
  ],
]

/** An application whose issuer is a row that the test changes, on a clock that it moves. */
async function start(t: TestContext, isLater: boolean) {
  const row: { answer: () => unknown } = { answer: () => RULES }
  const answer = isLater ? async () => row.answer() : () => row.answer()
  const { app, log, pass } = await askedApp(t, 'issuers', answer)
  const headers = await authority.headers({ resources: { acme: [], b: [] } }, { expiresIn: 7200 })
  return {
    ...{ app, row, log, pass },
    ask: async () => app.inject({ url: '/t/b', headers }),
    askFresh: async () => askFresh(app),
  }
}

let serial = 0

/** With a token that no cache knows. */
async function askFresh(app: FastifyInstance) {
  serial += 1
  const claims = { jti: `${serial}`, resources: { acme: [], b: [] } }
  return app.inject({ url: '/t/b', headers: await authority.headers(claims) })
}

const turn = () => new Promise(setImmediate)

for (const [what, wrong] of WRONG) {
  for (const isLater of [false, true]) {
    const how = isLater ? 'later' : 'at once'
    test(`an answer that is ${what}, given ${how}, ends what was known: 503`, async (t) => {
      const { ask, askFresh, row, pass, log, app } = await start(t, isLater)
      assert.equal((await ask()).statusCode, 200)
      row.answer = () => wrong
      pass(300)
      log.raw.length = 0
      assertRefused(await ask(), 'ERR_AUTH_ISSUERS_UNAVAILABLE')
      // One line of the refusal, and one of the function, for the operator.
      const [refusal, ...others] = log.lines('request refused')
      assert.deepEqual(others, [])
      assert.equal(refusal?.['reason'], 'the issuers function gave no usable answer')
      const logged = log.lines('').filter((line) => line['function'] === 'issuers')
      assert.equal(logged.filter(({ level }) => level === 40).length, 1)
      assertRefused(await askFresh(), 'ERR_AUTH_ISSUERS_UNAVAILABLE')
      // What came before is no last good answer for a later outage.
      row.answer = () => assert.fail('down')
      assertRefused(await ask(), 'ERR_AUTH_ISSUERS_UNAVAILABLE')
      assert.deepEqual(app.authService.stats().documents, [])
      row.answer = () => RULES
      assert.equal((await ask()).statusCode, 200)
    })

    test(`an answer that is ${what}, found ${how} in the background, ends it too`, async (t) => {
      const { ask, askFresh, row, pass } = await start(t, isLater)
      assert.equal((await ask()).statusCode, 200)
      row.answer = () => wrong
      pass(240)
      // The request that finds it out does not wait for an answer that comes later.
      const first = await ask()
      if (isLater) assert.equal(first.statusCode, 200)
      else assertRefused(first, 'ERR_AUTH_ISSUERS_UNAVAILABLE')
      await turn()
      assertRefused(await ask(), 'ERR_AUTH_ISSUERS_UNAVAILABLE')
      assertRefused(await askFresh(), 'ERR_AUTH_ISSUERS_UNAVAILABLE')
    })
  }
}

test('a row that is gone, found in the background, ends what was known', async (t) => {
  for (const isLater of [false, true]) {
    await t.test(isLater ? 'later' : 'at once', async (t) => {
      const { ask, row, pass } = await start(t, isLater)
      assert.equal((await ask()).statusCode, 200)
      row.answer = () => null
      pass(240)
      if (isLater) await ask()
      await turn()
      assertRefused(await ask(), 'ERR_AUTH_TOKEN_INVALID')
    })
  }
})

test('a narrower pin that is found in the background at once counts for that request', async (t) => {
  const { ask, row, pass } = await start(t, false)
  assert.equal((await ask()).statusCode, 200)
  row.answer = () => ({ ...RULES, tenants: ['acme'] })
  pass(240)
  assertRefused(await ask(), 'ERR_AUTH_TENANT_FORBIDDEN')
})

const OUTAGES: readonly [what: string, fail: () => unknown][] = [
  ['throws', () => assert.fail('secret')],
  ['is late', () => new Promise(() => {})],
]

for (const [what, fail] of OUTAGES) {
  test(`where the function ${what}, the last good answer serves for keysMaxStale`, async (t) => {
    const { ask, row, pass } = await start(t, true)
    assert.equal((await ask()).statusCode, 200)
    row.answer = fail
    for (const seconds of [300, 3584]) {
      pass(seconds)
      const asked = ask()
      await turn()
      pass(5)
      assert.equal((await asked).statusCode, 200)
    }
    pass(6)
    const late = ask()
    await turn()
    pass(5)
    assertRefused(await late, 'ERR_AUTH_ISSUERS_UNAVAILABLE')
  })
}

test('a wrong answer that was asked for before forget() does not end the newer one', async (t) => {
  const open: ((answer: unknown) => void)[] = []
  const answer = () => new Promise((resolve) => void open.push(resolve))
  const { app } = await askedApp(t, 'issuers', answer)
  const first = askFresh(app)
  while (open.length < 1) await turn()
  app.authService.forget()
  const second = askFresh(app)
  while (open.length < 2) await turn()
  open[1]?.(RULES)
  assert.equal((await second).statusCode, 200)
  open[0]?.({ ...RULES, tenants: [] })
  assert.equal((await first).statusCode, 200)
  assert.equal((await askFresh(app)).statusCode, 200)
  assert.equal(open.length, 2)
})
