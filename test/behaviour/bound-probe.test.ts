import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertGuarded, probe } from '../../lib/entrypoints/testing/index.ts'
import { Possession } from '../../lib/identity/proofs/possession.ts'
import { boundApp } from '../helpers/app/bound-app.ts'
import { as, authority } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { boundToken } from '../helpers/tokens/bound.ts'

const { prove } = Possession.prototype

/** Guards that fail, and a request that they let in. */
const FAILING: readonly [what: string, prove: typeof prove, headers: () => Promise<object>][] = [
  [
    'unbound tokens',
    function (this: Possession, sent, confirmation, { possession }, waits) {
      return prove.call(this, sent, confirmation, { possession, mustBeBound: false }, waits)
    },
    as,
  ],
  [
    'bound ones as Bearer',
    function (this: Possession, sent, confirmation, known, waits) {
      const isBearer = sent.request.headers.authorization?.startsWith('Bearer ')
      if (isBearer && confirmation !== null) return { confirmation, bound: null }
      return prove.call(this, sent, confirmation, known, waits)
    },
    async () => ({ authorization: `Bearer ${await boundToken()}` }),
  ],
]

for (const [what, failing, headers] of FAILING) {
  test(`a probe sees a guard that takes ${what} where binding is required`, async (t) => {
    t.mock.method(Possession.prototype, 'prove', failing)
    const app = await boundApp(t, { confirmation: 'require' })
    const response = await app.inject({ url: '/me', headers: { ...(await headers()) } })
    assert.equal(outcome(response), '200')
    const routes = await probe(app, authority)
    const found = routes.some(({ unproved }) => unproved === 204)
    assert.equal(found, true)
    await assert.rejects(assertGuarded(app, authority), /unproved/)
  })
}
