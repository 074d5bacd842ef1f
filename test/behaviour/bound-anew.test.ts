import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boundApp } from '../helpers/app/bound-app.ts'
import { as, authority, RIGHTS } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { HOLDER, proofKey, provedBy } from '../helpers/tokens/bound.ts'

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
