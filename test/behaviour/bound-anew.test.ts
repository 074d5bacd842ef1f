import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boundApp, challengesOf } from '../helpers/app/bound-app.ts'
import { as, authority, RIGHTS } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { boundToken, HOLDER, proofKey, provedBy } from '../helpers/tokens/bound.ts'

const other = await proofKey()

const bound = { jkt: HOLDER.thumbprint }

/** What a token is bound to, at first and when it is asked for anew. */
const CHANGES: readonly [what: string, first: object | undefined, then: object | undefined][] = [
  ['is bound meanwhile', undefined, bound],
  ['is bound to another key meanwhile', bound, { jkt: other.thumbprint }],
  ['needs a certificate meanwhile', bound, { ...bound, 'x5t#S256': HOLDER.thumbprint }],
  ['is bound no more, where that is required', bound, undefined],
]

for (const [what, first, then] of CHANGES) {
  test(`a token that is asked for anew at the last gate, and ${what}, is refused`, async (t) => {
    const names = { iss: authority.issuer, aud: authority.audience, sub: 'u', resources: RIGHTS }
    let cnf = first
    const opaqueToken = () => ({ ...names, ...(cnf && { cnf }) })
    const app = await boundApp(t, { opaqueToken, opaqueMaxAge: 1 })
    const config = then === undefined ? { confirmation: 'require' as const } : {}
    const preValidation = async () => {
      cnf = then
      // As a body that comes slowly: the answer about the token counts no more.
      await new Promise((resolve) => setTimeout(resolve, 1100))
    }
    app.get('/slow', { config, preValidation }, async () => 'in')
    const headers = first
      ? provedBy(HOLDER, 'opaque', { url: '/slow' })
      : { authorization: 'Bearer opaque' }
    const response = await app.inject({ url: '/slow', headers })
    assert.equal(outcome(response), '401 ERR_AUTH_TOKEN_INVALID')
    // It was no other fault.
    assert.equal(outcome(await app.inject({ url: '/me', headers: await as() })), '200')
  })
}

for (const scheme of ['Bearer', 'DPoP', 'Basic']) {
  test(`credentials of the scheme ${scheme} that a hook puts into the header refuse nobody who has proved its own`, async (t) => {
    const app = await boundApp(t, { resolveTenant: ({ body }: { body: unknown }) => body })
    const preValidation = async ({ headers }: { headers: Record<string, unknown> }) => {
      headers['authorization'] = `${scheme} of-a-service`
    }
    const config = { tenant: 'required', late: true } as const
    app.post('/late', { config, preValidation }, async ({ tenant }) => tenant)
    const [tenant = ''] = Object.keys(RIGHTS).filter((each) => each !== '*')
    const post = (own: Record<string, string>, named = tenant) => {
      const headers = { ...own, 'content-type': 'application/json' }
      const payload = JSON.stringify(named)
      return app.inject({ method: 'POST', url: '/late', headers, payload })
    }
    const token = await boundToken()
    const proved = () => provedBy(HOLDER, token, { url: '/late', method: 'POST' })
    const unbound = await as()
    assert.equal(outcome(await post(unbound)), '200')
    assert.equal(outcome(await post(proved())), '200')
    const errors = [await post(unbound, 'zoo'), await post(proved(), 'zoo')].map(challengesOf)
    assert.deepEqual(
      errors.map((each) => each.errors),
      [{ Bearer: 'insufficient_scope' }, { DPoP: 'insufficient_scope' }],
    )
  })
}
