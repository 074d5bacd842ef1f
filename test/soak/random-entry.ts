import type { Cast } from './cast.ts'
import type { Random } from './random.ts'
import type { Entry } from './revocations.ts'

/** An entry of the deny list that concerns a token, a session, a user, or an issuer. */
export function randomEntry(cast: Cast, random: Random): Entry {
  const { jti, sid, sub, iss } = cast.tokenOf(cast.pick(random), random).claims
  const now = Date.now()
  if (random.chance(0.02)) return { issuer: iss, issuedBefore: now - 20_000 }
  // A user who is out for good is asked of until another one comes.
  if (random.chance(0.05)) return { sub, issuer: iss }
  return random.pick<Entry>([
    { jti },
    { jti },
    { jti: `of-no-token-${random.next()}` },
    { jti: `of-no-token-${random.next()}` },
    { sid, issuer: iss },
    { sub, issuer: iss, issuedBefore: now },
  ])
}
