import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AuthError } from '../../../lib/errors.ts'
import { FOR_GOOD, Issuer, type IssuerRules } from '../../../lib/identity/authentication/issuer.ts'
import { VerifiedTokens } from '../../../lib/identity/authentication/verified-tokens.ts'
import { KeySet } from '../../../lib/identity/jwks/jwk-set.ts'
import { type KeySource, StaticKeys } from '../../../lib/identity/jwks/key-source.ts'
import { JoseHeaders, parseCompactJws } from '../../../lib/identity/jwt/compact-jws.ts'
import type { UserInfo } from '../../../lib/identity/jwt/user-info.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'
import type { DocumentState } from '../../../lib/platform/http/document-status.ts'
import { accepted } from '../../helpers/tokens/accepted.ts'
import { type ForgeKey, forge, forgeKey } from '../../helpers/tokens/forge.ts'

const NOW = 1_800_000_000
const WAITS = new PendingRequests()
const [ONE, TWO] = [forgeKey('ES256', 'one'), forgeKey('ES256', 'two')]
const [SET_ONE, SET_TWO] = [setOf(ONE), setOf(TWO)]

function setOf(...keys: ForgeKey[]): KeySet {
  return new KeySet({ keys: keys.map(({ publicJwk }) => publicJwk) })
}

/** An issuer on a clock that stands still, with a count of verified tokens: each is mapped once. */
function issuerWith(
  t: TestContext,
  keys: KeySource,
  rules: Partial<IssuerRules> = {},
  isTrusted?: () => boolean,
) {
  t.mock.timers.enable({ apis: ['Date'], now: NOW * 1000 })
  const mapClaims = t.mock.fn((claims: object): UserInfo => ({ sub: 'nobody', ...claims }))
  const tokens = new VerifiedTokens(10, 5)
  const own: IssuerRules = {
    name: 'a.test',
    tenants: '*',
    algorithms: new Set(['ES256']),
    tokenTypes: new Set(['application/at+jwt']),
    clockTolerance: 5,
    mapClaims,
    ...rules,
  }
  const issuer = new Issuer(keys, own, tokens, isTrusted && { ...FOR_GOOD, isTrusted })
  /** As a request is verified: what is known is not proved again. */
  const verify = (token: string, waits = WAITS) =>
    accepted(
      tokens.get(token) ??
        issuer.verify(token, parseCompactJws(token, 16_384, new JoseHeaders()), waits),
    )
  return { issuer, verify, tokens, verified: () => mapClaims.mock.callCount() }
}

/** Keys that the test changes: the current ones, and the ones that come next. */
class MovedKeys implements KeySource {
  readonly retryAfter = 7
  now: KeySet | undefined
  readonly #next: KeySet[]
  looks = 0

  constructor(now: KeySet | undefined, ...next: KeySet[]) {
    this.now = now
    this.#next = next
  }

  open(): void {}

  close(): void {}

  current(): KeySet | undefined {
    return this.now
  }

  async settled(): Promise<KeySet | undefined> {
    await this.reload()
    return this.now
  }

  lookAgain(): Promise<unknown> | undefined {
    if (this.#next.length === 0) return undefined
    this.looks += 1
    return this.reload()
  }

  async reload(): Promise<boolean> {
    if (this.#next.length === 0) return false
    this.now = this.#next.shift()
    return true
  }

  state(): DocumentState {
    return { state: 'none', age: null, failure: null }
  }
}

function tokenBy(key: ForgeKey, claims: object = {}, header: object = {}): string {
  return forge(key, { header, payload: { sub: 'u', exp: NOW + 60, ...claims } })
}

const withReason = (reason: string) => (error: unknown) =>
  error instanceof AuthError && error.reason === reason

test('a token is verified at once and once, and then known until its end', (t) => {
  const { verify, verified } = issuerWith(t, new StaticKeys(SET_ONE))
  const token = tokenBy(ONE)
  const first = verify(token)
  assert.ok(!(first instanceof Promise), 'the keys are there')
  assert.deepEqual([first.principal.userInfo.sub, first.names.sub], ['u', 'u'])
  assert.equal(verify(token), first)
  assert.equal(verified(), 1)
  t.mock.timers.tick(64_999)
  assert.equal(verify(token), first)
  t.mock.timers.tick(1)
  assert.throws(() => verify(token), withReason('expired'))
})

test('other keys prove a token anew, and without keys the token is not known', async (t) => {
  const keys = new MovedKeys(SET_ONE)
  const { issuer, verify, verified } = issuerWith(t, keys)
  const token = tokenBy(ONE)
  void verify(token)
  keys.now = setOf(ONE, TWO)
  void verify(token)
  assert.equal(verified(), 2)
  keys.now = SET_TWO
  await assert.rejects(async () => verify(token), withReason('the key is unknown'))
  keys.now = undefined
  await assert.rejects(async () => verify(token), {
    code: 'ERR_AUTH_KEYS_UNAVAILABLE',
    retryAfter: 7,
  })
  assert.equal(issuer.isReady, false)
})

test('the first keys are waited for', async (t) => {
  const { issuer, verify } = issuerWith(t, new MovedKeys(undefined, SET_ONE))
  const token = tokenBy(ONE)
  const first = verify(token)
  assert.equal(first instanceof Promise, true)
  const verified = await first
  assert.equal(verify(token), verified)
  assert.equal(issuer.isReady, true)
})

test('an unknown kid leads to newer keys', async (t) => {
  const keys = new MovedKeys(SET_ONE, SET_TWO)
  const { verify } = issuerWith(t, keys)
  assert.equal((await verify(tokenBy(TWO))).principal.userInfo.sub, 'u')
  assert.equal(keys.looks, 1)
})

test('without a kid a signature that does not match leads to newer keys', async (t) => {
  const keys = new MovedKeys(SET_ONE, SET_TWO)
  const { verify } = issuerWith(t, keys)
  const nameless = tokenBy(TWO, {}, { kid: undefined })
  assert.equal((await verify(nameless)).principal.userInfo.sub, 'u')
  assert.equal(keys.looks, 1)
})

test('if a fetch under way brings the same keys, one more fetch follows', async (t) => {
  for (const header of [{}, { kid: undefined }]) {
    t.mock.timers.reset()
    const keys = new MovedKeys(SET_ONE, SET_ONE, SET_TWO)
    const { verify } = issuerWith(t, keys)
    const verified = await verify(tokenBy(TWO, {}, header))
    assert.deepEqual([verified.principal.userInfo.sub, keys.looks], ['u', 2])
  }
})

test('a request waits for two fetches at most', async (t) => {
  const keys = new MovedKeys(SET_ONE, SET_ONE, SET_ONE, SET_TWO)
  const { verify } = issuerWith(t, keys)
  const outcome = async () => verify(tokenBy(TWO))
  await assert.rejects(outcome, withReason('the key is unknown'))
  assert.equal(keys.looks, 2)
})

test('a signature that does not match the newer keys either is a forgery', async (t) => {
  const mismatch = withReason('the signature does not match')
  const nameless = tokenBy(forgeKey('ES256', 'forged'), {}, { kid: undefined })
  for (const next of [[], [SET_ONE], [SET_TWO]]) {
    t.mock.timers.reset()
    const { verify } = issuerWith(t, new MovedKeys(SET_ONE, ...next))
    await assert.rejects(async () => verify(nameless), mismatch)
  }
})

test('with a kid a signature that does not match is refused at once', (t) => {
  const keys = new MovedKeys(SET_ONE, SET_TWO)
  const { verify } = issuerWith(t, keys)
  const forged = tokenBy(forgeKey('ES256', 'one'))
  assert.throws(() => verify(forged), withReason('the signature does not match'))
  assert.equal(keys.looks, 0)
})

test('a token that is refused with any key asks for none', (t) => {
  const keys = new MovedKeys(SET_ONE, SET_TWO)
  const { verify } = issuerWith(t, keys)
  assert.throws(() => verify(tokenBy(TWO, { exp: NOW - 60 })), withReason('expired'))
  assert.equal(keys.looks, 0)
})

test('the tokens that one key set has proved share a proof, which ends with the next set', async (t) => {
  const keys = new MovedKeys(SET_ONE)
  const { verify } = issuerWith(t, keys)
  const [first, second] = [tokenBy(ONE, { n: 1 }), tokenBy(ONE, { n: 2 })]
  const { validity } = await verify(first)
  assert.equal((await verify(second)).validity, validity)
  keys.now = setOf(ONE, TWO)
  assert.equal(validity.isValid, false)
  const next = (await verify(first)).validity
  assert.notEqual(next, validity)
  assert.equal((await verify(second)).validity, next)
  keys.now = SET_ONE
  assert.deepEqual([validity.isValid, next.isValid], [false, false])
})

test('an application that closes does not wait for keys', async (t) => {
  const keys = new MovedKeys(undefined)
  keys.settled = () => new Promise(() => {})
  const { verify } = issuerWith(t, keys)
  const waits = new PendingRequests()
  const ended = assert.rejects(async () => verify(tokenBy(ONE), waits), {
    code: 'ERR_AUTH_KEYS_UNAVAILABLE',
  })
  waits.end()
  await ended
})

test('keys are fetched on demand, or the issuer says that they cannot be had', async (t) => {
  const keys = new MovedKeys(SET_ONE, SET_TWO)
  const { issuer } = issuerWith(t, keys)
  await issuer.refreshKeys()
  assert.equal(keys.now, SET_TWO)
  await assert.rejects(issuer.refreshKeys(), { code: 'ERR_AUTH_KEYS_UNAVAILABLE' })
})

test('it is known by its name and its identifiers, and whether it is pinned', (t) => {
  const keys = new StaticKeys(SET_ONE)
  const { issuer } = issuerWith(t, keys)
  assert.deepEqual([issuer.name, issuer.identifiers, issuer.isPinned], ['a.test', [], false])
  t.mock.timers.reset()
  const rules = { name: 'acme', issuer: ['https://a.test'], tenants: new Set(['acme']) }
  const { issuer: pinned } = issuerWith(t, keys, rules)
  assert.deepEqual(
    [pinned.name, pinned.identifiers, pinned.isPinned],
    ['acme', ['https://a.test'], true],
  )
})

test('what a pinned issuer grants counts in its own tenants, and nowhere else', async (t) => {
  const rules = { tenants: new Set(['acme']), superuserResource: 'authz:superuser' }
  const { verify } = issuerWith(t, new StaticKeys(SET_ONE), rules)
  const resources = { acme: ['menu:read'], other: ['menu:read'], '*': ['authz:superuser'] }
  const { principal } = await verify(tokenBy(ONE, { iss: 'https://a.test', resources }))
  assert.deepEqual(principal.userInfo.resources, { acme: ['menu:read', 'authz:superuser'] })
  assert.deepEqual([principal.in(null).isSuperuser, principal.find('other')], [false, undefined])
  assert.equal(principal.issuer, 'https://a.test')
})

test('an issuer that is trusted no more proves nothing that is known', async (t) => {
  let isTrusted = true
  const keys = new StaticKeys(SET_ONE)
  const { verify, tokens } = issuerWith(t, keys, {}, () => isTrusted)
  const token = tokenBy(ONE)
  await verify(token)
  assert.notEqual(tokens.get(token), undefined)
  isTrusted = false
  assert.equal(tokens.get(token), undefined)
  isTrusted = true
  assert.notEqual(tokens.get(token), undefined)
})

test('what a retired issuer has proved is known no more', async (t) => {
  const { issuer, verify, tokens } = issuerWith(t, new StaticKeys(SET_ONE))
  const token = tokenBy(ONE)
  await verify(token)
  const accepted = issuer.accept({ sub: 'u' }, NOW + 60)
  assert.equal(accepted.validity.isValid, true)
  issuer.retire()
  assert.deepEqual([tokens.get(token), accepted.validity.isValid], [undefined, false])
})

test('an issuer that has proved nothing can be retired', (t) => {
  const { issuer } = issuerWith(t, new StaticKeys(SET_ONE))
  issuer.retire()
  assert.equal(issuer.accept({ sub: 'u' }, NOW).validity.isValid, false)
})

test('claims that it has told in another way are judged by its rules', (t) => {
  const rules = { issuer: ['https://a.test'], audience: ['api'], tenants: new Set(['acme']) }
  const { issuer } = issuerWith(t, new StaticKeys(SET_ONE), rules)
  const good = { iss: 'https://a.test', aud: 'api', sub: 'u', resources: { acme: [], b: [] } }
  const { principal, lifetime } = issuer.accept({ ...good }, NOW + 60)
  assert.deepEqual([...principal.tenants], ['acme'])
  assert.equal(lifetime.exp, undefined)
  assert.equal(principal.expiresAt.getTime(), (NOW + 60) * 1000, 'it ends where it is said to')
  const bounded = issuer.accept({ ...good, exp: NOW + 7 }, NOW + 60)
  assert.equal(bounded.principal.expiresAt.getTime(), (NOW + 7) * 1000)
  for (const bad of [{ aud: 'other' }, { iss: 'other' }, { exp: NOW - 5 }, { cnf: { jkt: 'x' } }]) {
    assert.throws(() => issuer.accept({ ...good, ...bad }, NOW + 60), AuthError)
  }
})

test('another mapping counts for the tokens that come', async (t) => {
  const { issuer, verify } = issuerWith(t, new StaticKeys(SET_ONE))
  const [before, after] = [tokenBy(ONE, { n: 1 }), tokenBy(ONE, { n: 2 })]
  await verify(before)
  issuer.mapBy(() => ({ sub: 'mapped' }))
  assert.equal((await verify(before)).principal.userInfo.sub, 'u')
  assert.equal((await verify(after)).principal.userInfo.sub, 'mapped')
})

const FAR = 4_102_444_800

/** Milliseconds for a new token that names so many tenants, with 1 700 ids for all; the least. */
function costOf(tenants: number): number {
  const ids = Array.from({ length: 1700 }, (_, at) => `menu:${at}`)
  const names = Array.from({ length: tenants }, (_, at) => `t${at}`)
  const own = names.map((name): [string, string[]] => [name, [`own:${name}`]])
  const resources = JSON.stringify({ '*': ids, ...Object.fromEntries(own) })
  const tokens = new VerifiedTokens(100, 5)
  const rules = { name: 'a', tenants: new Set(names), clockTolerance: 5 }
  const header = { algorithms: new Set(['ES256']), tokenTypes: new Set(['jwt']) }
  const issuer = new Issuer(new StaticKeys(SET_ONE), { ...rules, ...header }, tokens)
  const costs = Array.from({ length: 30 }, (_, at) => {
    const claims = { sub: 'u', exp: FAR, resources: JSON.parse(resources) }
    const from = performance.now()
    const verified = issuer.accept(claims, FAR)
    verified.principal.in('t0').require('own:t0', 'menu:0')
    tokens.set(`token ${at}`, verified)
    return performance.now() - from
  })
  return Math.min(...costs)
}

test('what is granted in every tenant costs once, and not once for each of a hundred', () => {
  const [many, one] = [costOf(100), costOf(1)]
  assert.equal(many < 4 * one, true, `${many} ms, and ${one} ms for one`)
})
