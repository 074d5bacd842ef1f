import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertUnproved, boundApp, type ProofError } from '../helpers/app/bound-app.ts'
import { authority, RIGHTS } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { boundToken, dpop, HOLDER, proofOf, provedBy } from '../helpers/tokens/bound.ts'

/** `confirmation`, and the answers to four requests. */
const MODES: readonly [
  confirmation: string | undefined,
  answers: Record<'unbound' | 'unboundAsDpop' | 'bound' | 'boundAsBearer', string>,
][] = [
  ['check', { unbound: '200', unboundAsDpop: '401', bound: '200', boundAsBearer: '401' }],
  ['require', { unbound: '401', unboundAsDpop: '401', bound: '200', boundAsBearer: '401' }],
  ['ignore', { unbound: '200', unboundAsDpop: '200', bound: '200', boundAsBearer: '200' }],
  ['refuse', { unbound: '200', unboundAsDpop: '401', bound: '401', boundAsBearer: '401' }],
  [undefined, { unbound: '200', unboundAsDpop: '401', bound: '401', boundAsBearer: '401' }],
]

for (const [confirmation, expected] of MODES) {
  test(`with confirmation ${confirmation} tokens are answered as the mode says`, async (t) => {
    const app = await boundApp(t, { confirmation })
    const ask = async (headers: { authorization: string }) =>
      `${(await app.inject({ url: '/me', headers })).statusCode}`
    const unbound = await authority.token({ resources: RIGHTS })
    const bound = await boundToken()
    for (const _ of ['unknown tokens', 'known tokens']) {
      assert.deepEqual(
        {
          unbound: await ask({ authorization: `Bearer ${unbound}` }),
          unboundAsDpop: await ask(provedBy(HOLDER, unbound)),
          bound: await ask(provedBy(HOLDER, bound)),
          boundAsBearer: await ask({ authorization: `Bearer ${bound}` }),
        },
        expected,
      )
    }
  })
}

test('where nothing is checked, the scheme DPoP needs no proof, in any case', async (t) => {
  const app = await boundApp(t, { confirmation: 'ignore' })
  const token = await boundToken()
  for (const scheme of ['DPoP', 'dpop', 'DPOP']) {
    const headers = { authorization: `${scheme} ${token}` }
    assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
  }
  const headers = dpop(token, 'no proof')
  assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
})

/** Requests whose credentials do not fit together, and where the answer names which error. */
const UNFIT: readonly [
  what: string,
  of: { bound: boolean; scheme: 'DPoP' | 'Bearer'; proof: boolean },
  error: ProofError | null,
][] = [
  ['a bound token as Bearer', { bound: true, scheme: 'Bearer', proof: false }, 'invalid_token'],
  [
    'a bound one as Bearer, proved',
    { bound: true, scheme: 'Bearer', proof: true },
    'invalid_token',
  ],
  ['an unbound one as DPoP', { bound: false, scheme: 'DPoP', proof: false }, 'invalid_token'],
  [
    'an unbound one as DPoP, proved',
    { bound: false, scheme: 'DPoP', proof: true },
    'invalid_token',
  ],
  [
    'a bound one without a proof',
    { bound: true, scheme: 'DPoP', proof: false },
    'invalid_dpop_proof',
  ],
  ['an unbound one as Bearer, proved', { bound: false, scheme: 'Bearer', proof: true }, null],
]

for (const [what, { bound, scheme, proof }, error] of UNFIT) {
  test(`${what} is answered with ${error ?? '200'}`, async (t) => {
    const app = await boundApp(t)
    const token = bound ? await boundToken() : await authority.token({ resources: RIGHTS })
    for (const _ of [1, 2]) {
      const headers = {
        authorization: `${scheme} ${token}`,
        ...(proof && { dpop: proofOf(HOLDER, { token }) }),
      }
      const response = await app.inject({ url: '/me', headers })
      if (error === null) assert.equal(outcome(response), '200')
      else assertUnproved(response, error, scheme)
    }
  })
}
