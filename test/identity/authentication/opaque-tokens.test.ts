import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AuthError, ERR_AUTH_TOKEN_INVALID } from '../../../lib/errors.ts'
import { Issuer, type IssuerRules } from '../../../lib/identity/authentication/issuer.ts'
import { ListedIssuers } from '../../../lib/identity/authentication/issuers.ts'
import { JwtVerifier } from '../../../lib/identity/authentication/jwt-verifier.ts'
import { OpaqueTokens } from '../../../lib/identity/authentication/opaque-tokens.ts'
import { VerifiedTokens } from '../../../lib/identity/authentication/verified-tokens.ts'
import { KeySet } from '../../../lib/identity/jwks/jwk-set.ts'
import { StaticKeys } from '../../../lib/identity/jwks/key-source.ts'
import { refuseToken } from '../../../lib/identity/jwt/refuse-token.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'
import { ageByDate } from '../../helpers/processes/age-by-date.ts'
import { accepted } from '../../helpers/tokens/accepted.ts'
import { forge, forgeKey } from '../../helpers/tokens/forge.ts'

const NOW = 1_800_000_000
const WAITS = new PendingRequests()
const KEY = forgeKey('ES256', 'one')
const KEYS = new StaticKeys(new KeySet({ keys: [KEY.publicJwk] }))
const GOOD = { iss: 'https://a.test', sub: 'machine' }

const tokenWith = (claims: object) =>
  forge(KEY, { payload: { ...GOOD, exp: NOW + 300, ...claims } })

const unavailable = (reason: string) => ({
  code: 'ERR_AUTH_INTROSPECTION_UNAVAILABLE',
  retryAfter: 1,
  reason: `opaqueToken ${reason}`,
})

const withReason = (reason: string) => (error: unknown) =>
  error instanceof AuthError && error.reason === reason

const UNKNOWN = withReason('opaqueToken does not know the token')

/** Two issuers, and a function that tells of tokens, on a clock that the test moves. */
function start(
  t: TestContext,
  answer: (token: string) => unknown,
  { rules = {}, kept = 2000 }: { rules?: Partial<IssuerRules>; kept?: number } = {},
) {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: NOW * 1000 })
  ageByDate(t)
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

/** Claims, and how many milliseconds they are kept. */
const KEPT: readonly [what: string, answer: unknown, milliseconds: number][] = [
  ['claims without an end', GOOD, 30_000],
  ['claims that end sooner', { ...GOOD, exp: NOW + 10 }, 10_000],
  ['claims that end later', { ...GOOD, exp: NOW + 60 }, 30_000],
  ['a JWT', tokenWith({}), 30_000],
]

for (const [what, answer, milliseconds] of KEPT) {
  test(`${what} are kept for ${milliseconds} ms`, async (t) => {
    const { verify, tokens, asked, at } = start(t, () => answer)
    const verified = await verify('key')
    assert.equal(verified.principal.userInfo.sub, 'machine')
    at(milliseconds - 1)
    assert.equal(tokens.get('key'), verified)
    at(milliseconds)
    assert.equal(tokens.get('key'), undefined)
    assert.deepEqual(asked(), ['key'])
  })
}

test('a JWT that has been verified stands for other tokens as it is', async (t) => {
  const jwt = tokenWith({})
  const { verify } = start(t, () => jwt)
  const { principal } = await verify('key')
  assert.equal((await verify('other')).principal, principal)
})

test('claims without an end last from their question for as long as they are kept', async (t) => {
  const { open, answer } = byHand()
  const { verify, at } = start(t, answer)
  const verifying = verify('key')
  at(4000)
  open[0]?.(GOOD)
  const { principal } = await verifying
  assert.equal(principal.expiresAt.getTime(), NOW * 1000 + 30_000)
})

test('claims that come when their time is over last a second for who asked for them', async (t) => {
  const { open, answer } = byHand()
  const { verify, at } = start(t, answer)
  const verifying = verify('key')
  at(40_000)
  open[0]?.(GOOD)
  const { principal } = await verifying
  assert.equal(principal.expiresAt.getTime(), NOW * 1000 + 41_000)
})

/** Answers, and why their tokens are refused. */
const REFUSED: readonly [what: string, answer: unknown, reason: string, unverified?: string][] = [
  ['null', null, 'opaqueToken does not know the token'],
  ['an old JWT', tokenWith({ exp: NOW - 5 }), 'expired'],
  ['claims of the past', { ...GOOD, exp: NOW - 5 }, 'expired'],
  ['no issuer', { sub: 'u' }, 'the issuer is not accepted', 'nothing'],
  ['a number as issuer', { ...GOOD, iss: 7 }, 'the issuer is not accepted', 'nothing'],
  ['another issuer', { ...GOOD, iss: 'c' }, 'the issuer is not accepted', '"c"'],
]

for (const [what, answer, reason, unverified] of REFUSED) {
  test(`a token for which ${what} stands is refused, and not kept`, async (t) => {
    const { verify, tokens } = start(t, () => answer)
    await assert.rejects(
      async () => verify('key'),
      (error) => {
        assert.ok(error instanceof ERR_AUTH_TOKEN_INVALID, `${error}`)
        assert.equal(error.reason, reason)
        if (unverified !== undefined) assert.equal(error.mismatch?.unverified, unverified)
        return true
      },
    )
    assert.equal(tokens.get('key'), undefined)
  })
}

test('a refusal of the JWT that costs no exception is given as it is', (t) => {
  const { ask } = start(t, () => tokenWith({ exp: NOW - 5 }))
  assert.deepEqual(ask('key'), refuseToken('expired'))
})

test('each of several issuers judges its own claims', async (t) => {
  const { verify } = start(t, (token) => ({ ...GOOD, iss: `https://${token}.test` }))
  for (const token of ['a', 'b']) {
    assert.equal((await verify(token)).names.issuer, `https://${token}.test`)
  }
})

const circular: Record<string, unknown> = {}
circular['self'] = circular

const NO_ANSWERS: readonly [what: string, answer: unknown][] = [
  ['nothing', undefined],
  ['true', true],
  ['a list', [GOOD]],
  ['an opaque token again', 'key-2'],
  ['what JSON cannot say', { n: 1n }],
  ['an object in itself', circular],
]

for (const [what, answer] of NO_ANSWERS) {
  test(`an answer that is ${what} is 503`, async (t) => {
    const { verify } = start(t, () => answer)
    await assert.rejects(async () => verify('key'), unavailable('gave no usable answer'))
  })
}

test('a token of other characters, or one that is too long, is not asked for', async (t) => {
  const { verify, asked } = start(t, () => GOOD)
  const characters = withReason('characters that no token has')
  for (const token of ['', '=', 'a b', '"a', 'a"', 'a=b', '\u00e9']) {
    assert.throws(() => verify(token), characters, token)
  }
  assert.throws(() => verify('a'.repeat(21)), withReason('longer than maxTokenLength'))
  assert.deepEqual(asked(), [])
  const good = ['a', 'a'.repeat(20), 'AZaz09-._~+/==']
  for (const token of good) await verify(token)
  assert.deepEqual(asked(), good)
})

test('a token that is not known is known as such for two seconds, and no other is', (t) => {
  const { verify, asked, at } = start(t, () => null)
  for (const [milliseconds, questions] of [
    [0, ['one']],
    [1999, []],
    [2000, ['one']],
  ] as const) {
    at(milliseconds)
    assert.throws(() => verify('one'), UNKNOWN)
    assert.deepEqual(asked(), questions, `after ${milliseconds} ms`)
  }
  assert.throws(() => verify('two'), UNKNOWN)
  assert.deepEqual(asked(), ['two'])
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

test('64 tokens are asked for at once, a thousand wait, and the next one is refused', async (t) => {
  const { open, answer } = byHand()
  const { verify } = start(t, answer)
  const verifying = Array.from({ length: 1064 }, (_, i) => verify(`t${i}`))
  assert.throws(() => verify('next'), unavailable('was not asked: its line is full'))
  assert.equal(open.length, 64)
  for (let at = 0; at < 1064; at++) {
    open[at]?.(GOOD)
    await verifying[at]
  }
  assert.equal((await Promise.all(verifying)).length, 1064)
})

test('requests that ask together are answered by one question, and alike', async (t) => {
  const { verify, asked } = start(t, async () => GOOD)
  const [one, two] = await Promise.all([verify('key'), verify('key')])
  assert.equal(one, two)
  assert.deepEqual(asked(), ['key'])
})

test('each of them has claims of its own where none are kept', async (t) => {
  const mapClaims = (claims: Record<string, unknown>) => {
    claims['count'] = Number(claims['count'] ?? 0) + 1
    return { sub: 'u', count: claims['count'] }
  }
  const { verify } = start(t, async () => GOOD, { rules: { mapClaims }, kept: 0 })
  const verified = await Promise.all([verify('key'), verify('key')])
  assert.deepEqual(
    verified.map(({ principal }) => principal.userInfo['count']),
    [1, 1],
  )
})

test('after forget nothing is known, good or bad, and what comes then is kept', async (t) => {
  const answers = new Map<string, unknown>([['good', GOOD]])
  const { opaque, verify, tokens, asked } = start(t, (token) => answers.get(token) ?? null)
  await verify('good')
  assert.throws(() => verify('bad'), UNKNOWN)
  asked()
  opaque.forget()
  assert.equal(tokens.get('good'), undefined)
  assert.throws(() => verify('bad'), UNKNOWN)
  assert.equal(tokens.get('good'), undefined)
  const verified = await verify('good')
  assert.equal(tokens.get('good'), verified)
  assert.deepEqual(asked(), ['bad', 'good'])
})

test('closing ends the questions that are open, and opening again asks anew', async (t) => {
  const { open, answer } = byHand()
  const { opaque, verify } = start(t, answer)
  const ended = assert.rejects(
    async () => verify('key'),
    unavailable('had not answered when the application closed'),
  )
  opaque.close()
  await ended
  opaque.open()
  const verifying = verify('key')
  open[1]?.(GOOD)
  assert.equal((await verifying).principal.userInfo.sub, 'machine')
})
