import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertGuarded, probe } from '../../lib/entrypoints/testing/index.ts'
import { Possession } from '../../lib/identity/proofs/possession.ts'
import { boundApp } from '../helpers/app/bound-app.ts'
import { as, authority } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'

test('a probe sees a guard that takes unbound tokens where binding is required', async (t) => {
  const { prove } = Possession.prototype
  Possession.prototype.prove = function (sent, confirmation, { possession }, waits) {
    return prove.call(this, sent, confirmation, { possession, mustBeBound: false }, waits)
  }
  t.after(() => {
    Possession.prototype.prove = prove
  })
  const app = await boundApp(t, { confirmation: 'require' })
  assert.equal(outcome(await app.inject({ url: '/me', headers: await as() })), '200')
  const routes = await probe(app, authority)
  const found = routes.some(({ unproved }) => unproved === 204)
  assert.equal(found, true)
  await assert.rejects(assertGuarded(app, authority), /unproved/)
})
