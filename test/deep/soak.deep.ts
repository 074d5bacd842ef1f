import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { describe, it, test } from 'node:test'
import { type Replacement, sabotagedLibs } from '../helpers/documents/sabotaged-lib.ts'
import { withoutRedis } from '../helpers/servers/redis-server.ts'
import { type SoakOptions, soak } from '../soak/soak.ts'
import { shownWrong, wrongInShort } from '../soak/tally.ts'

const sabotagedLib = sabotagedLibs()

/** A soak in which as much happens in seconds as in the minutes of a longer one. */
const SHORT: SoakOptions = {
  seconds: 15,
  seed: 20,
  rate: 150,
  pace: 0.3,
  lib: resolve('lib'),
  processes: ['claims', 'application'],
}

test('the whole package gives no wrong verdict', { skip: withoutRedis }, async () => {
  const { tally, troubles } = await soak(SHORT)
  const found = tally.wrong.map((wrong) => shownWrong(wrong, SHORT.seed))
  assert.deepEqual(found, [])
  assert.deepEqual(troubles, [])
  assert.ok(tally.count('200') > tally.asked / 20, `${tally.count('200')} were admitted`)
})

/** A check that is removed, what stands there instead, and a wrong verdict that follows. */
const SABOTAGES: readonly (readonly [check: string, replacement: Replacement, wrong: RegExp])[] = [
  [
    'the signature',
    [
      'identity/jwt/verify.ts',
      'return verifySignature(header.alg, key, signingInput, signature)',
      'return true',
    ],
    /^(?:forged signature|changed payload): \d+ .*in place of 401 ERR_AUTH_TOKEN_INVALID/,
  ],
  [
    'the expiry',
    ['identity/jwt/registered-claims.ts', 'now >= exp + tolerance', 'false'],
    /in place of 401 ERR_AUTH_TOKEN_INVALID/,
  ],
  [
    'the expiry of a token that was seen before',
    [
      'identity/authentication/verified-tokens.ts',
      'lifetimeRefusal(verified.lifetime, this.#clockTolerance) ?? verified',
      'verified',
    ],
    /^user: .* in place of 401 ERR_AUTH_TOKEN_INVALID/,
  ],
  [
    'the audience',
    ['identity/jwt/registered-claims.ts', 'audience && !names(aud, audience)', 'false'],
    /^another audience: .* in place of 401 ERR_AUTH_TOKEN_INVALID/,
  ],
  [
    'the binding',
    [
      'identity/authentication/bearer-authenticator.ts',
      'if (possession !== undefined) {',
      'if (false) {',
    ],
    /^bound token as Bearer: .* in place of 401 ERR_AUTH_TOKEN_INVALID/,
  ],
  [
    'the end of what a withdrawn key has proved',
    [
      'identity/authentication/issuer.ts',
      'this.#standing.isTrusted() && this.keys.current() === keys',
      'this.#standing.isTrusted()',
    ],
    /^user: .* in place of (?:401 ERR_AUTH_TOKEN_INVALID|503 ERR_AUTH_KEYS_UNAVAILABLE)/,
  ],
  [
    'the pin of an issuer to its tenants',
    [
      'identity/authorization/principal.ts',
      'new Rights(resources, rules, pin)',
      'new Rights(resources, rules)',
    ],
    /^user: (?:200|404 .*) in place of (?:200|403 .*)/,
  ],
  [
    'the tenant',
    ['identity/authorization/principal.ts', '!this.#rights.mayActFor(tenant)', 'false'],
    /in place of 403 ERR_AUTH_TENANT_FORBIDDEN/,
  ],
  [
    'the existence of a tenant',
    ['guard/decide.ts', 'knownTenants.stateOf(tenant, waits)', 'true'],
    /in place of 404 ERR_AUTH_TENANT_UNKNOWN/,
  ],
  [
    'the requirement',
    ['guard/decide.ts', '!membership.meets(required)', 'false'],
    /: 200 in place of 403 ERR_AUTH_RESOURCE_MISSING/,
  ],
  [
    'the revocation',
    ['entrypoints/revocation/deny-list.ts', 'if (store.has(token)) return true', ''],
    /^user.*: .* in place of 401 ERR_AUTH_TOKEN_INVALID/,
  ],
  [
    'the entries of other processes',
    ['entrypoints/revocation/poller.ts', 'add(entry, keptAt?.[index], by)', ''],
    /^user.*: .* in place of 401 ERR_AUTH_TOKEN_INVALID/,
  ],
  [
    'the proof of the holder',
    ['identity/proofs/dpop-proof.ts', '!verifySignature(key.alg, key.key, input, bytes)', 'false'],
    /^bad proof: .* in place of 401 ERR_AUTH_TOKEN_INVALID/,
  ],
  [
    'the proofs that were seen',
    ['identity/proofs/possession.ts', "if (isSo) return 'dpop'", "return 'dpop'"],
    /^replayed proof: .* in place of 401 ERR_AUTH_TOKEN_INVALID/,
  ],
  [
    'the secret',
    [
      'entrypoints/introspection/shared-secret.ts',
      '!(await isSignedByAny(token, jws, keys))',
      'false',
    ],
    /^forged secret: .* in place of 401 ERR_AUTH_TOKEN_INVALID/,
  ],
  [
    'the suspension of a tenant',
    ['guard/decide.ts', '!isServed && !principal.isSuperuser', 'false'],
    /: 200 in place of .*403 ERR_AUTH_TENANT_SUSPENDED/,
  ],
  [
    'the entry of a logout',
    [
      'entrypoints/revocation/backchannel-logout.ts',
      'entriesOf(logout, options).map((entry) => options.revoked.add(entry))',
      '[entriesOf]',
    ],
    /^user.*: .* in place of 401 ERR_AUTH_TOKEN_INVALID/,
  ],
  [
    'the clients of a logout',
    ['identity/jwt/logout-token.ts', 'if (refusal !== undefined) return refusal', ''],
    /^authorization server: 200 logged out in place of 400 invalid_request/,
  ],
  [
    'the age of a login',
    ['identity/authorization/step-up.ts', 'now - authTime <= maxAge + tolerance', 'true'],
    /: 200 in place of 401 ERR_AUTH_STEP_UP_REQUIRED/,
  ],
  [
    'newer rights before a refusal',
    ['guard/decide.ts', 'external === undefined) return refusal()', 'true) return refusal()'],
    /^user.*: 403 .* in place of /,
  ],
  [
    'the age of rights',
    [
      'identity/authorization/external-rights.ts',
      'rights.isKnown ? maxAge : UNKNOWN_FOR',
      '100_000',
    ],
    /^user.*: \d/,
  ],
]

describe('a soak of a package that lacks one check', { concurrency: 2, skip: withoutRedis }, () => {
  for (const [check, replacement, wrong] of SABOTAGES) {
    it(`notices what comes without ${check}`, async () => {
      const lib = sabotagedLib([replacement])
      const { tally } = await soak({ ...SHORT, seconds: 300, lib, endsWithWrong: true })
      const lines = tally.wrong.map(wrongInShort)
      const found = lines.some((line) => wrong.test(line))
      assert.ok(found, `the wrong verdicts: ${lines.join('\n')}`)
    })
  }
})
