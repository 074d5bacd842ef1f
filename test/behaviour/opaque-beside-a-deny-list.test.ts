import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import { authority, guardedApp } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { until } from '../helpers/processes/until.ts'

/** An application of opaque tokens without an age, beside a deny list. */
async function opaque(t: TestContext, opaqueMaxAge: number) {
  const counts = { asked: 0, resolved: 0 }
  let gate: Promise<void> | undefined
  const revoked = denyList()
  const app = await guardedApp(t, {
    isRevoked: revoked,
    opaqueMaxAge,
    opaqueToken: async (sub) => {
      counts.asked += 1
      await gate
      return { iss: authority.issuer, aud: authority.audience, sub, resources: { acme: [] } }
    },
    resolveTenant: async () => {
      counts.resolved += 1
      return 'acme'
    },
  })
  app.get('/x', { config: { tenant: 'required' } }, async ({ tenant }) => tenant)
  const ask = (token: string) =>
    app.inject({ url: '/x', headers: { authorization: `Bearer ${token}` } })
  const hold = () => {
    let open = (): void => {}
    gate = new Promise((resolve) => {
      open = resolve
    })
    return () => open()
  }
  return { app, ask, counts, hold, revoked }
}

for (const opaqueMaxAge of [0, 30]) {
  test(`an opaque token without an age is decided once for a request, kept for ${opaqueMaxAge} s`, async (t) => {
    const { ask, counts } = await opaque(t, opaqueMaxAge)
    for (const count of [1, 2, 3]) {
      assert.equal(outcome(await ask('alice')), '200')
      assert.equal(counts.resolved, count)
    }
    assert.equal(counts.asked, opaqueMaxAge === 0 ? 3 : 1)
  })
}

for (const [what, forgotten] of [
  ['of its user', { issuer: authority.issuer, sub: 'alice' }],
  ['of everybody', undefined],
] as const) {
  test(`an opaque token is good though forget() ${what} comes while it is asked for`, async (t) => {
    const { app, ask, counts, hold } = await opaque(t, 30)
    const open = hold()
    const answer = ask('alice')
    await until(() => counts.asked === 1)
    app.authService.forget(forgotten)
    open()
    assert.equal(outcome(await answer), '200')
  })
}

test('an opaque token of a revoked user is refused, kept or not', async (t) => {
  const { ask, revoked } = await opaque(t, 30)
  assert.equal(outcome(await ask('alice')), '200')
  await revoked.add({ sub: 'alice', issuer: authority.issuer })
  for (const _ of [1, 2]) assert.equal(outcome(await ask('alice')), '401 ERR_AUTH_TOKEN_INVALID')
})
