import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import {
  AuthError,
  ERR_AUTH_KEYS_UNAVAILABLE,
  ERR_AUTH_TOKEN_INVALID,
  ERR_AUTH_TOKEN_MISSING,
} from '../../../lib/errors.ts'
import type { Finding } from '../../../lib/identity/authentication/authenticator.ts'
import {
  BearerAuthenticator,
  type BearerRules,
} from '../../../lib/identity/authentication/bearer-authenticator.ts'
import { Issuer, type IssuerRules } from '../../../lib/identity/authentication/issuer.ts'
import { ListedIssuers } from '../../../lib/identity/authentication/issuers.ts'
import { JwtVerifier } from '../../../lib/identity/authentication/jwt-verifier.ts'
import { OpaqueTokens } from '../../../lib/identity/authentication/opaque-tokens.ts'
import { VerifiedTokens } from '../../../lib/identity/authentication/verified-tokens.ts'
import { ExternalRights } from '../../../lib/identity/authorization/external-rights.ts'
import { Principal } from '../../../lib/identity/authorization/principal.ts'
import { KeySet } from '../../../lib/identity/jwks/jwk-set.ts'
import { StaticKeys } from '../../../lib/identity/jwks/key-source.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'
import { bearerRequest } from '../../helpers/tokens/bearer-request.ts'
import { forge, forgeKey } from '../../helpers/tokens/forge.ts'

const KEY = forgeKey('ES256', 'one')
const KEYS = new KeySet({ keys: [KEY.publicJwk] })
const CLAIMS = { aud: 'api', sub: 'alice', exp: Math.floor(Date.now() / 1000) + 300 }
const RULES: IssuerRules = {
  name: 'a.test',
  audience: ['api'],
  tenants: '*',
  algorithms: new Set(['ES256']),
  tokenTypes: new Set(['application/at+jwt']),
  clockTolerance: 5,
}

const tokenWith = (claims: object = {}) => forge(KEY, { payload: { ...CLAIMS, ...claims } })

/** Notes what a part is told, in the place of doing it. */
function noted<T extends object>(part: T, name: string, notes: unknown[]): T {
  return Object.assign(part, {
    open: () => void notes.push(`${name} opens`),
    close: () => void notes.push(`${name} closes`),
    forget: (what?: unknown) => void notes.push([name, what]),
  })
}

/** A bearer token's parts, with opaque tokens and rights that the application tells, or without. */
function start(kind: 'few' | 'all' = 'few', rules: Partial<BearerRules> = {}) {
  const tokens = new VerifiedTokens(10, 5)
  const issuer = new Issuer(new StaticKeys(KEYS), RULES, tokens)
  const found: unknown[] = []
  const asked: string[] = []
  const issuers = new ListedIssuers([issuer])
  const find = issuers.find.bind(issuers)
  Object.assign(issuers, {
    find(claimed: { iss: string | undefined }) {
      found.push(claimed)
      return find(claimed)
    },
  })
  const jwts = new JwtVerifier(issuers, tokens, 16_384)
  const opaqueToken = (token: string) => {
    asked.push(token)
    return token === 'key' ? { ...CLAIMS, sub: 'machine' } : null
  }
  const opaque = { opaqueToken, timeout: 5, maxAge: 30, maxTokenLength: 16_384 }
  const more = {
    opaqueTokens: new OpaqueTokens(opaque, { jwts, issuers, tokens }),
    rights: new ExternalRights({
      resourcesOf: ({ sub }) => ({ [`of-${sub}`]: [] }),
      timeout: 5,
      maxAge: 60,
    }),
  }
  const parts = { issuers, tokens, jwts, ...(kind === 'all' && more) }
  const bearerToken = new BearerAuthenticator(parts, { timeout: 5, ...rules })
  return {
    ...{ bearerToken, issuer, issuers, tokens, ...more },
    authenticate: (request: FastifyRequest, finding?: Finding) => {
      try {
        return bearerToken.authenticate(request, new PendingRequests(), finding)
      } catch (error) {
        assert.ok(error instanceof AuthError, `${error}`)
        return error
      }
    },
    found: () => found.length,
    asked: () => asked,
  }
}

const withToken = (token: string) => bearerRequest(`Bearer ${token}`)

/** A request without an Authorization header. */
const BARE: FastifyRequest = Object.assign(Object.create(null), { headers: {}, raw: {} })

for (const kind of ['few', 'all'] as const) {
  test(`its parts are opened, closed and told what to forget (${kind})`, () => {
    const notes: unknown[] = []
    const { bearerToken, issuers, opaqueTokens, rights } = start(kind)
    noted(issuers, 'issuers', notes)
    noted(opaqueTokens, 'opaque', notes)
    noted(rights, 'rights', notes)
    const told = () => notes.splice(0)
    const all = (...given: unknown[]) => (kind === 'all' ? given : given.slice(0, 1))
    bearerToken.open()
    assert.deepEqual(told(), all('issuers opens', 'opaque opens', 'rights opens'))
    bearerToken.close()
    assert.deepEqual(told(), all('issuers closes', 'opaque closes', 'rights closes'))
    bearerToken.forget({ issuer: 'a' })
    const what = ['rights', { issuer: 'a' }]
    assert.deepEqual(told(), all(['issuers', 'a'], ['opaque', { issuer: 'a' }], what))
    const user = { issuer: 'a', sub: 'u' }
    bearerToken.forget(user)
    const ofUser = [
      ['opaque', user],
      ['rights', user],
    ]
    assert.deepEqual(told(), kind === 'all' ? ofUser : [], 'issuers know nothing of one user')
    bearerToken.forget({ issuer: null })
    const ofNobody = [
      ['opaque', { issuer: null }],
      ['rights', { issuer: null }],
    ]
    assert.deepEqual(told(), kind === 'all' ? ofNobody : [], 'an issuer has a name')
  })
}

test('it tells of its issuers and of the tokens that it keeps', async () => {
  const { bearerToken, issuer, authenticate } = start()
  assert.deepEqual([bearerToken.isReady, bearerToken.issuers()], [true, [issuer]])
  await bearerToken.refreshKeys()
  await assert.rejects(bearerToken.refreshKeys('other'), { code: 'ERR_AUTH_KEYS_UNAVAILABLE' })
  await authenticate(withToken(tokenWith()))
  assert.deepEqual(bearerToken.tokenCache, { size: 1, hits: 0, misses: 1, evictions: 0 })
})

test('a token is verified once, at once, and then known', () => {
  const { authenticate, found } = start()
  const request = withToken(tokenWith())
  const principal = authenticate(request)
  assert.ok(principal instanceof Principal, 'it is let in')
  assert.deepEqual([principal.userInfo.sub, found()], ['alice', 1])
  assert.equal(authenticate(request), principal)
  assert.equal(found(), 1, 'its issuer is not looked for again')
})

test('what was found is noted: whether the token was known, and what it stands for', (t) => {
  const { authenticate, tokens } = start()
  const findingOf = (request: FastifyRequest) => {
    const finding: Finding = { cached: null, verified: null }
    void authenticate(request, finding)
    return finding
  }
  const token = tokenWith()
  assert.deepEqual(findingOf(BARE), { cached: null, verified: null })
  for (const cached of [false, true]) {
    const { verified, ...others } = findingOf(withToken(token))
    assert.deepEqual(others, { cached })
    assert.equal(verified, tokens.get(token))
  }
  t.mock.timers.enable({ apis: ['Date'], now: (CLAIMS.exp + 5) * 1000 })
  assert.deepEqual(findingOf(withToken(token)), { cached: true, verified: null })
  assert.deepEqual(findingOf(withToken('a.b.c')), { cached: false, verified: null })
})

const THROWN = new ERR_AUTH_KEYS_UNAVAILABLE(9, 'on purpose')
const INVALID = ERR_AUTH_TOKEN_INVALID
const AUDIENCE = { of: 'aud', expected: '"api"', unverified: '"other"' }

const throws = (error: unknown) => () => {
  throw error
}

/** Requests that are refused, and how. */
const REFUSED: readonly {
  readonly what: string
  readonly request: FastifyRequest
  readonly rules?: Partial<BearerRules>
  readonly error: new (...given: never[]) => AuthError
  readonly reason: string
  readonly mismatch?: object
}[] = [
  { what: 'no token', request: BARE, error: ERR_AUTH_TOKEN_MISSING, reason: 'no bearer token' },
  {
    what: 'a token for others',
    request: withToken(tokenWith({ aud: 'other' })),
    ...{ error: INVALID, reason: 'the audience is not accepted', mismatch: AUDIENCE },
  },
  {
    what: 'an old token',
    request: withToken(tokenWith({ exp: 1 })),
    ...{ error: INVALID, reason: 'expired' },
  },
  {
    what: 'a token that is no JWT',
    request: withToken('key'),
    ...{ error: INVALID, reason: 'not three parts' },
  },
  {
    what: 'a revoked token',
    request: withToken(tokenWith()),
    rules: { isRevoked: () => true },
    ...{ error: INVALID, reason: 'revoked' },
  },
  {
    what: 'a function that fails',
    request: BARE,
    rules: { tokenFrom: throws(new TypeError('secret')) },
    ...{ error: INVALID, reason: 'tokenFrom failed' },
  },
  {
    what: 'an error of ours',
    request: BARE,
    rules: { tokenFrom: throws(THROWN) },
    ...{ error: ERR_AUTH_KEYS_UNAVAILABLE, reason: 'on purpose' },
  },
]

for (const { what, request, rules, error, reason, mismatch } of REFUSED) {
  test(`${what} is refused, with its reason for the log`, () => {
    const { authenticate } = start('few', rules)
    const refusal = authenticate(request)
    assert.ok(refusal instanceof AuthError, 'it is an error of ours')
    assert.deepEqual([refusal.constructor, refusal.reason], [error, reason])
    const told = refusal instanceof ERR_AUTH_TOKEN_INVALID ? refusal.mismatch : undefined
    assert.deepEqual(told, mismatch)
  })
}

test('a JWT is never asked for, and another token is asked for once', () => {
  const { authenticate, asked } = start('all')
  for (const token of [tokenWith(), 'key', 'key']) {
    assert.ok(authenticate(withToken(token)) instanceof Principal, `${token} is let in`)
  }
  for (const token of [tokenWith({ aud: 'other' }), 'none']) {
    assert.ok(authenticate(withToken(token)) instanceof ERR_AUTH_TOKEN_INVALID, token)
  }
  assert.deepEqual(asked(), ['key', 'none'])
})

test('the rights are those that the application tells, and isRevoked is told these', () => {
  const seen: unknown[] = []
  const isRevoked: BearerRules['isRevoked'] = ({ resources }) => {
    seen.push(resources)
    return false
  }
  const { authenticate } = start('all', { isRevoked })
  const principal = authenticate(withToken(tokenWith({ resources: { acme: [] } })))
  assert.ok(principal instanceof Principal, 'it is let in')
  assert.deepEqual([[...principal.tenants], seen], [['of-alice'], [{ 'of-alice': [] }]])
})
