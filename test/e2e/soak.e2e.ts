import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { type Replacement, sabotagedLibs } from '../helpers/documents/sabotaged-lib.ts'
import { withoutRedis } from '../helpers/servers/redis-server.ts'
import { ownStore, redisStore } from '../soak/entry-store.ts'
import { type SoakOptions, soak } from '../soak/soak.ts'
import { shownWrong } from '../soak/tally.ts'

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

/** A check that is removed, and what stands there instead. */
const SABOTAGES: readonly (readonly [check: string, ...Replacement])[] = [
  [
    'the signature',
    'tokens/verify-token.ts',
    '!verifySignature(jws.header.alg, key.key, jws.signingInput, jws.signature)',
    'false',
  ],
  ['the expiry', 'tokens/registered-claims.ts', 'now >= exp + tolerance', 'false'],
  [
    'the expiry of a token that was seen before',
    'authentication/verified-tokens.ts',
    'checkLifetime(verified.lifetime, this.#clockTolerance)',
    '',
  ],
  ['the audience', 'tokens/registered-claims.ts', 'audience && !names(aud, audience)', 'false'],
  ['the binding', 'tokens/registered-claims.ts', 'if (rules.confirmation !== ', 'if (false && '],
  [
    'the end of what a withdrawn key has proved',
    'authentication/issuer.ts',
    'this.keys.current() === keys',
    'true',
  ],
  [
    'the pin of an issuer to its tenants',
    'rights/pin.ts',
    'tenants === EVERY_TENANT || resources === undefined',
    'true',
  ],
  ['the tenant', 'rights/principal.ts', '!this.#rights.mayActFor(tenant)', 'false'],
  ['the existence of a tenant', 'guard/decide.ts', 'if (!exists) {', 'if (false) {'],
  ['the requirement', 'guard/decide.ts', 'if (!isMet) with', 'if (false) with'],
  [
    'the revocation',
    'deny-list/deny-list-core.ts',
    'if (this.#denials.deny(token)) return true',
    '',
  ],
  [
    'the entries of other processes',
    'deny-list/pulls.ts',
    '(denial) => this.#denials.add(denial)',
    '() => {}',
  ],
  ['the age of rights', 'rights/asked-rights.ts', 'told.isKnown ? maxAge : UNKNOWN_FOR', '100_000'],
]

for (const [check, ...replacement] of SABOTAGES) {
  test(`without ${check}, a wrong verdict is noticed`, async () => {
    const lib = sabotagedLib([replacement])
    const { tally } = await soak({ ...SHORT, seconds: 60, lib, endsWithWrong: true })
    assert.notEqual(tally.wrongCount, 0)
  })
}
