import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { describe, it, test } from 'node:test'
import { type Replacement, sabotagedLibs } from '../helpers/documents/sabotaged-lib.ts'
import { withoutRedis } from '../helpers/servers/redis-server.ts'
import { ownStore, redisStore } from '../soak/entry-store.ts'
import { type SoakOptions, soak } from '../soak/soak.ts'
import { shownWrong, wrongInShort } from '../soak/tally.ts'

const sabotagedLib = sabotagedLibs()

/** A short soak, in which as much happens as in a longer one. */
const SHORT: SoakOptions = {
  seconds: 15,
  seed: 20,
  rate: 150,
  pace: 0.3,
  lib: resolve('lib'),
  processes: ['claims', 'application'],
  openStore: ownStore,
}

for (const [name, skip, openStore] of [
  ['Redis', withoutRedis, redisStore],
  ['a server of its own', false, ownStore],
] as const) {
  test(`with ${name} the whole package gives no wrong verdict`, { skip }, async () => {
    const { tally, troubles } = await soak({ ...SHORT, openStore })
    assert.deepEqual(
      tally.wrong.map((wrong) => shownWrong(wrong, SHORT.seed)),
      [],
    )
    assert.deepEqual(troubles, [])
    assert.ok(tally.count('200') > tally.asked / 20, `${tally.count('200')} were admitted`)
  })
}

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
      'refusedLifetime(verified.lifetime, this.#clockTolerance) ?? verified',
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
    ['identity/jwt/registered-claims.ts', 'refused !== undefined || !isBound(cnf)', 'true'],
    /^bound to its sender: .* in place of 401 ERR_AUTH_TOKEN_INVALID/,
  ],
  [
    'the end of what a withdrawn key has proved',
    ['identity/authentication/issuer.ts', 'this.keys.current() === keys', 'true'],
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
    ['guard/decide.ts', 'membership.meets(requirement)', 'true'],
    /: 200 in place of 403 ERR_AUTH_RESOURCE_MISSING/,
  ],
  [
    'the revocation',
    ['entrypoints/revocation/deny-list-function.ts', 'if (store.has(token)) return true', ''],
    /^user.*: .* in place of 401 ERR_AUTH_TOKEN_INVALID/,
  ],
  [
    'the entries of other processes',
    ['entrypoints/revocation/poller.ts', 'add(entry, keptAt?.[index], by)', ''],
    /^user.*: .* in place of 401 ERR_AUTH_TOKEN_INVALID/,
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

describe('a soak of a package that lacks one check', { concurrency: 2 }, () => {
  for (const [check, replacement, wrong] of SABOTAGES) {
    it(`notices what comes without ${check}`, async () => {
      const lib = sabotagedLib([replacement])
      const { tally } = await soak({ ...SHORT, seconds: 90, lib, endsWithWrong: true })
      const lines = tally.wrong.map(wrongInShort)
      assert.ok(
        lines.some((line) => wrong.test(line)),
        `the wrong verdicts: ${lines.join('\n')}`,
      )
    })
  }
})
