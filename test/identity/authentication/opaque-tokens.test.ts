import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AuthError } from '../../../lib/errors.ts'
import { Issuer, type TrustRules } from '../../../lib/identity/authentication/issuer.ts'
import { ListedIssuers } from '../../../lib/identity/authentication/issuers.ts'
import { JwtVerifier } from '../../../lib/identity/authentication/jwt-verifier.ts'
import { OpaqueTokens } from '../../../lib/identity/authentication/opaque-tokens.ts'
import { VerifiedTokens } from '../../../lib/identity/authentication/verified-tokens.ts'
import { readKeySet } from '../../../lib/identity/jwks/jwk-set.ts'
import { StaticKeys } from '../../../lib/identity/jwks/key-source.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'
import { forgeKey } from '../../helpers/tokens/forge.ts'
import { accepted } from '../../helpers/tokens/standalone-authenticator.ts'

const NOW = 1_800_000_000
const WAITS = new PendingRequests()
const KEY = forgeKey('ES256', 'one')
const KEYS = new StaticKeys(readKeySet({ keys: [KEY.publicJwk] }))
const GOOD = { iss: 'https://a.test', sub: 'machine' }

const withReason = (reason: string) => (error: unknown) =>
  error instanceof AuthError && error.reason === reason

const UNKNOWN = withReason('opaqueToken does not know the token')

/** Two issuers, and a function that knows tokens, on a clock that the test moves. */
function start(
  t: TestContext,
  answer: (token: string) => unknown,
  { rules = {}, kept = 2000 }: { rules?: Partial<TrustRules>; kept?: number } = {},
) {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: NOW * 1000 })
  const tokens = new VerifiedTokens(kept, 5)
  const issuers = new ListedIssuers(
    ['https://a.test', 'https://b.test'].map((iss) => {
      const own = { name: iss, issuer: [iss], tenants: '*', clockTolerance: 5 } as const
      const header = { algorithms: new Set(['ES256']), tokenTypes: new Set(['application/at+jwt']) }
      return new Issuer(KEYS, { ...own, ...header, ...rules }, tokens)
    }),
  )
  const jwts = new JwtVerifier(issuers, tokens, 16_384)
  const asked: string[] = []
  const given: object = {
    opaqueToken(token: string) {
      asked.push(token)
      return answer(token)
    },
  }
  const limits = { timeout: 5, maxAge: 30, maxTokenLength: 20, opaqueToken: () => null }
  const opaque = new OpaqueTokens({ ...limits, ...given }, { jwts, issuers, tokens })
  return {
    ...{ opaque, tokens, ask: (token: string) => opaque.verify(token, WAITS) },
    verify: (token: string) => accepted(opaque.verify(token, WAITS)),
    /** The tokens since the last call. */
    asked: () => asked.splice(0),
    at: (milliseconds: number) => t.mock.timers.setTime(NOW * 1000 + milliseconds),
  }
}

/** A function of which the test answers each question itself. */
function byHand() {
  const open: ((answer: unknown) => void)[] = []
  return { open, answer: () => new Promise((resolve) => void open.push(resolve)) }
}

test('claims that come when their time is over last a second for who asked for them', async (t) => {
  const { open, answer } = byHand()
  const { verify, at } = start(t, answer)
  const verifying = verify('key')
  at(40_000)
  open[0]?.(GOOD)
  const { principal } = await verifying
  assert.equal(principal.expiresAt.getTime(), NOW * 1000 + 41_000)
})

test('a thousand tokens are known as not known, and a further one takes the place of one', (t) => {
  const { verify, asked } = start(t, () => null)
  const askAll = (count: number) => {
    for (let i = 0; i < count; i++) assert.throws(() => verify(`t${i}`), UNKNOWN)
    return asked().length
  }
  assert.deepEqual([askAll(1000), askAll(1000), askAll(1001)], [1000, 0, 1])
  assert.notEqual(askAll(1001), 0)
})

test('each of them has claims of its own where none are kept', async (t) => {
  const mapClaims = (claims: Record<string, unknown>) => {
    claims['count'] = Number(claims['count'] ?? 0) + 1
    return { sub: 'u', count: claims['count'] }
  }
  const { verify } = start(t, async () => GOOD, { rules: { mapClaims }, kept: 0 })
  const verified = await Promise.all([verify('key'), verify('key')])
  const found = verified.map(({ principal }) => principal.userInfo['count'])
  assert.deepEqual(found, [1, 1])
})
