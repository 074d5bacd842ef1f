import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Issuer } from '../../../lib/identity/authentication/issuer.ts'
import { VerifiedTokens } from '../../../lib/identity/authentication/verified-tokens.ts'
import { type KeySet, readKeySet } from '../../../lib/identity/jwks/jwk-set.ts'
import { type KeySource, StaticKeys } from '../../../lib/identity/jwks/key-source.ts'
import { JoseHeaders, parseCompactJws } from '../../../lib/identity/jwt/compact-jws.ts'
import { acceptedTypes } from '../../../lib/identity/jwt/verify.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'
import { forge, forgeKey } from '../../helpers/tokens/forge.ts'

const KEY = forgeKey('ES256', 'one')
const KEYS = readKeySet({ keys: [KEY.publicJwk] })

const FAR = 4_102_444_800

const HEADER = { algorithms: new Set(['ES256']), tokenTypes: new Set(acceptedTypes(undefined)) }

/** Milliseconds for a new token that names so many tenants, with 1 700 ids for all; the least. */
function costOf(tenants: number): number {
  const ids = Array.from({ length: 1700 }, (_, at) => `menu:${at}`)
  const names = Array.from({ length: tenants }, (_, at) => `t${at}`)
  const own = names.map((name): [string, string[]] => [name, [`own:${name}`]])
  const resources = JSON.stringify({ '*': ids, ...Object.fromEntries(own) })
  const tokens = new VerifiedTokens(100, 5)
  const rules = { name: 'a', tenants: new Set(names), clockTolerance: 5 }
  const issuer = new Issuer(new StaticKeys(KEYS), { ...rules, ...HEADER }, tokens)
  const costs = Array.from({ length: 30 }, (_, at) => {
    const claims = { sub: 'u', exp: FAR, resources: JSON.parse(resources) }
    const from = performance.now()
    const verified = issuer.acceptOpaque(claims, FAR)
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

/** Keys that are there when they have been waited for. */
function lateKeys(whileWaiting: () => void): KeySource {
  const keys = new StaticKeys(KEYS)
  let current: KeySet | undefined
  return {
    open() {},
    close() {},
    current: () => current,
    settled: async () => {
      whileWaiting()
      current = KEYS
      return current
    },
    lookAgain: () => undefined,
    reload: () => keys.reload(),
    retryAfter: 1,
    state: () => keys.state(),
  }
}

const claims = { sub: 'u', exp: FAR, resources: { acme: ['a:b'] }, deep: [{ list: [1] }] }
const TOKEN = forge(KEY, { payload: claims })

function verify(keys: KeySource) {
  const rules = { name: 'a', tenants: '*', clockTolerance: 5, ...HEADER } as const
  const issuer = new Issuer(keys, rules, new VerifiedTokens(100, 5))
  const jws = parseCompactJws(TOKEN, 16_384, new JoseHeaders())
  return issuer.verify(TOKEN, jws, new PendingRequests())
}

test('a token that ends while its keys are waited for is refused', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: (FAR - 60) * 1000 })
  assert.ok('principal' in (await verify(lateKeys(() => {}))), 'one that does not is accepted')
  const ending = lateKeys(() => t.mock.timers.tick(120_000))
  await assert.rejects(async () => verify(ending), { reason: 'expired' })
})

test('the user info of a small token is deeply frozen for the first who gets it', async () => {
  const verified = await verify(new StaticKeys(KEYS))
  assert.ok('principal' in verified, 'accepted')
  const seen: unknown[] = [verified.principal.userInfo]
  for (const value of seen) {
    if (typeof value !== 'object' || value === null) continue
    assert.equal(Object.isFrozen(value), true)
    seen.push(...Object.values(value))
  }
  assert.equal(seen.length, 10)
})
