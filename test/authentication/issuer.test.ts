import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Issuer, type IssuerRules } from '../../lib/authentication/issuer.ts'
import { KeySet } from '../../lib/keys/key-set.ts'
import { type KeySource, StaticKeys } from '../../lib/keys/key-source.ts'
import { Waits } from '../../lib/outside/waits.ts'
import { TokenRefused } from '../../lib/tokens/token-refused.ts'
import type { UserInfo } from '../../lib/tokens/user-info.ts'
import { type ForgeKey, forge, forgeKey } from '../helpers/tokens/forge.ts'

const NOW = 1_800_000_000
const WAITS = new Waits()
const [ONE, TWO] = [forgeKey('ES256', 'one'), forgeKey('ES256', 'two')]
const [SET_ONE, SET_TWO] = [setOf(ONE), setOf(TWO)]

function setOf(...keys: ForgeKey[]): KeySet {
  return new KeySet({ keys: keys.map(({ publicJwk }) => publicJwk) })
}

/** An issuer on a clock that stands still, with a count of verified tokens: each is mapped once. */
function issuerWith(t: TestContext, keys: KeySource, rules: Partial<IssuerRules> = {}) {
  t.mock.timers.enable({ apis: ['Date'], now: NOW * 1000 })
  const mapClaims = t.mock.fn((claims: object): UserInfo => ({ sub: 'nobody', ...claims }))
  const issuer = new Issuer(keys, {
    algorithms: new Set(['ES256']),
    tokenTypes: new Set(['application/at+jwt']),
    clockTolerance: 5,
    maxTokenLength: 16_384,
    tokenCacheSize: 10,
    mapClaims,
    ...rules,
  })
  return { issuer, verified: () => mapClaims.mock.callCount() }
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
}

function tokenBy(key: ForgeKey, claims: object = {}, header: object = {}): string {
  return forge(key, { header, payload: { sub: 'u', exp: NOW + 60, ...claims } })
}

const withReason = (reason: string) => (error: unknown) =>
  error instanceof TokenRefused && error.reason === reason

test('a token is verified at once and only once, and is known until its end', (t) => {
  const { issuer, verified } = issuerWith(t, new StaticKeys(SET_ONE))
  const token = tokenBy(ONE)
  const first = issuer.verify(token, WAITS)
  assert.ok(!(first instanceof Promise), 'the keys are there')
  assert.deepEqual([first.principal.userInfo.sub, first.names.sub], ['u', 'u'])
  assert.equal(issuer.verify(token, WAITS), first)
  assert.equal(verified(), 1)
  t.mock.timers.tick(64_999)
  assert.equal(issuer.verify(token, WAITS), first)
  t.mock.timers.tick(1)
  assert.throws(() => issuer.verify(token, WAITS), withReason('expired'))
})

test('other keys prove a token anew, and without keys the token is not known', async (t) => {
  const keys = new MovedKeys(SET_ONE)
  const { issuer, verified } = issuerWith(t, keys)
  const token = tokenBy(ONE)
  void issuer.verify(token, WAITS)
  keys.now = setOf(ONE, TWO)
  void issuer.verify(token, WAITS)
  assert.equal(verified(), 2)
  keys.now = SET_TWO
  await assert.rejects(async () => issuer.verify(token, WAITS), withReason('the key is unknown'))
  keys.now = undefined
  await assert.rejects(async () => issuer.verify(token, WAITS), {
    code: 'ERR_AUTH_KEYS_UNAVAILABLE',
    retryAfter: 7,
  })
  assert.equal(issuer.isReady, false)
})

test('a request waits for the first keys', async (t) => {
  const { issuer } = issuerWith(t, new MovedKeys(undefined, SET_ONE))
  const token = tokenBy(ONE)
  const first = issuer.verify(token, WAITS)
  assert.equal(first instanceof Promise, true)
  const verified = await first
  assert.equal(issuer.verify(token, WAITS), verified)
  assert.equal(issuer.isReady, true)
})

test('an unknown kid leads to newer keys', async (t) => {
  const keys = new MovedKeys(SET_ONE, SET_TWO)
  const { issuer } = issuerWith(t, keys)
  assert.equal((await issuer.verify(tokenBy(TWO), WAITS)).principal.userInfo.sub, 'u')
  assert.equal(keys.looks, 1)
})

test('without a kid a signature that does not match leads to newer keys', async (t) => {
  const keys = new MovedKeys(SET_ONE, SET_TWO)
  const { issuer } = issuerWith(t, keys)
  const nameless = tokenBy(TWO, {}, { kid: undefined })
  assert.equal((await issuer.verify(nameless, WAITS)).principal.userInfo.sub, 'u')
  assert.equal(keys.looks, 1)
})

test('if a fetch under way brings the same keys, one more fetch follows', async (t) => {
  for (const header of [{}, { kid: undefined }]) {
    t.mock.timers.reset()
    const keys = new MovedKeys(SET_ONE, SET_ONE, SET_TWO)
    const { issuer } = issuerWith(t, keys)
    const verified = await issuer.verify(tokenBy(TWO, {}, header), WAITS)
    assert.deepEqual([verified.principal.userInfo.sub, keys.looks], ['u', 2])
  }
})

test('a request waits for two fetches at most', async (t) => {
  const keys = new MovedKeys(SET_ONE, SET_ONE, SET_ONE, SET_TWO)
  const { issuer } = issuerWith(t, keys)
  const outcome = async () => issuer.verify(tokenBy(TWO), WAITS)
  await assert.rejects(outcome, withReason('the key is unknown'))
  assert.equal(keys.looks, 2)
})

test('a signature that does not match the newer keys either is a forgery', async (t) => {
  const mismatch = withReason('the signature does not match')
  const nameless = tokenBy(forgeKey('ES256', 'forged'), {}, { kid: undefined })
  for (const next of [[], [SET_ONE], [SET_TWO]]) {
    t.mock.timers.reset()
    const { issuer } = issuerWith(t, new MovedKeys(SET_ONE, ...next))
    await assert.rejects(async () => issuer.verify(nameless, WAITS), mismatch)
  }
})

test('with a kid a signature that does not match is refused at once', (t) => {
  const keys = new MovedKeys(SET_ONE, SET_TWO)
  const { issuer } = issuerWith(t, keys)
  const forged = tokenBy(forgeKey('ES256', 'one'))
  assert.throws(() => issuer.verify(forged, WAITS), withReason('the signature does not match'))
  assert.equal(keys.looks, 0)
})

test('an application that closes does not wait for keys', async (t) => {
  const keys = new MovedKeys(undefined)
  keys.settled = () => new Promise(() => {})
  const { issuer } = issuerWith(t, keys)
  const waits = new Waits()
  const ended = assert.rejects(async () => issuer.verify(tokenBy(ONE), waits), {
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

test('keys open and close with their issuer', (t) => {
  const keys = new MovedKeys(SET_ONE)
  const calls: string[] = []
  keys.open = () => void calls.push('open')
  keys.close = () => void calls.push('close')
  const { issuer } = issuerWith(t, keys)
  issuer.open()
  issuer.close()
  assert.deepEqual(calls, ['open', 'close'])
})
