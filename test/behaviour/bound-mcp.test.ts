import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JWK } from 'jose'
import { assertUnproved, boundApp, type ProofError } from '../helpers/app/bound-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import {
  boundToken,
  dpop,
  HOLDER,
  type ProofParts,
  PUBLIC,
  proofKey,
  proofOf,
} from '../helpers/tokens/bound.ts'

const secret: JWK = HOLDER.pair.privateKey.export({ format: 'jwk' })
const stranger = await proofKey()
const now = () => Math.floor(Date.now() / 1000)

/** What the judge of the MCP conformance suite looks at (SEP-1932), each as a proof that fails. */
const CHECKS: readonly [check: string, parts: () => ProofParts, error?: ProofError][] = [
  ['a proof is there', () => ({ bend: () => '' })],
  ['there is one', () => ({ bend: (proof) => `${proof}, ${proof}` })],
  ['it is a JWT', () => ({ bend: () => 'a.b.c' })],
  ['typ', () => ({ header: { typ: 'JWT' } })],
  ['alg is asymmetric', () => ({ header: { alg: 'HS256' } })],
  ['alg is not none', () => ({ header: { alg: 'none' } })],
  ['jwk is there', () => ({ header: { jwk: undefined } })],
  ['jwk is public', () => ({ header: { jwk: { ...HOLDER.jwk, d: secret.d } } })],
  ['the signature is of the key', () => ({ signer: stranger.pair })],
  ['jti is there', () => ({ claims: { jti: undefined } })],
  ['jti is a text', () => ({ claims: { jti: 5 } })],
  ['htm is the method', () => ({ claims: { htm: 'POST' } })],
  ['htu is a text', () => ({ claims: { htu: 5 } })],
  ['htu is the address', () => ({ claims: { htu: `${PUBLIC}/other` } })],
  ['iat is a number', () => ({ claims: { iat: String(now()) } })],
  ['iat is at most 5 minutes old', () => ({ claims: { iat: now() - 302 } })],
  ['iat is at most 5 minutes ahead', () => ({ claims: { iat: now() + 302 } })],
  ['ath is there', () => ({ claims: { ath: undefined } })],
  ['ath is of the token', () => ({ token: 'another' })],
  [
    'the key is that of cnf.jkt',
    () => ({ header: { jwk: stranger.jwk }, signer: stranger.pair }),
    'invalid_token',
  ],
]

for (const [check, bad, error = 'invalid_dpop_proof'] of CHECKS) {
  test(`the judge of MCP's conformance suite looks at it, and so do we: ${check}`, async (t) => {
    const app = await boundApp(t)
    const token = await boundToken()
    const ask = (parts: ProofParts) =>
      app.inject({ url: '/me', headers: dpop(token, proofOf(HOLDER, { token, ...parts })) })
    assertUnproved(await ask(bad()), error)
    const claims = { jti: 'one' }
    for (const iat of [now() - 290, now() + 290]) {
      assert.equal(outcome(await ask({ claims: { iat } })), '200', `${iat - now()} seconds`)
    }
    assert.equal(outcome(await ask({ claims })), '200')
    assertUnproved(await ask({ claims }), 'invalid_dpop_proof')
  })
}
