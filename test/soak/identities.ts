import type { Circumstances } from './oracle.ts'
import { AUDIENCE, KEYS_RECOVERY, ON_THE_WAY, TIMES } from './settings.ts'
import type { Claims, Jwt, Token } from './token.ts'
import { NO_ANSWER } from './told-history.ts'
import type { TrustedIssuer } from './world.ts'

/** A user who has proved who it is. */
export interface Identity {
  readonly claims: Claims
  readonly tenants: TrustedIssuer['tenants']
}

const INVALID = '401 ERR_AUTH_TOKEN_INVALID'

/** Whom a token may stand for, and the verdicts on it where it may be refused. */
export function identitiesOf(token: Token, circumstances: Circumstances): (Identity | string)[] {
  if (token.kind === 'jwt') {
    return believed(token.claims, circumstances, (issuer) => proofs(token, issuer, circumstances))
  }
  const { process, window, patience } = circumstances
  return process.opaque.during(token.text, window, patience).flatMap((answer) => {
    if (answer === NO_ANSWER) return ['503 ERR_AUTH_INTROSPECTION_UNAVAILABLE']
    if (answer === null) return [INVALID]
    return believed(answer, circumstances, () => ['proved'])
  })
}

/** Claims for us, of an issuer that is trusted, in their time. */
function believed(
  claims: Claims,
  circumstances: Circumstances,
  prove: (issuer: TrustedIssuer) => ('proved' | string)[],
): (Identity | string)[] {
  const issuer = circumstances.world.issuers.get(claims.iss)
  if (issuer === undefined || claims.aud !== AUDIENCE) return [INVALID]
  if (claims.cnf !== undefined && Object.keys(claims.cnf).length > 0) return [INVALID]
  const { mayBeOver, mayBeValid } = lifeOf(claims, circumstances)
  const proved = mayBeValid
    ? prove(issuer).map((proof) =>
        proof === 'proved' ? { claims, tenants: issuer.tenants } : proof,
      )
    : []
  return [...(mayBeOver ? [INVALID] : []), ...proved]
}

/** By the wall clock of the process, which may have been set meanwhile. */
function lifeOf(claims: Claims, { process, window }: Circumstances) {
  const offsets = process.clock.during(window).map(({ value }) => value)
  const earliest = (window.wall.from + Math.min(...offsets)) / 1000
  const latest = (window.wall.until + Math.max(...offsets)) / 1000
  const start = Math.max(claims.iat, claims.nbf ?? claims.iat) - TIMES.clockTolerance
  const end = claims.exp + TIMES.clockTolerance
  return {
    mayBeValid: earliest < end && Math.floor(latest) >= start,
    mayBeOver: latest >= end || Math.floor(earliest) < start,
  }
}

/** `proved`, and the verdicts that the keys of the process allow instead. */
function proofs(
  { kid, isGenuine, isSigned }: Jwt,
  issuer: TrustedIssuer,
  circumstances: Circumstances,
): ('proved' | string)[] {
  if (!isSigned) return [INVALID]
  const { number, window, patience } = circumstances
  const sets = issuer.served[number]?.during(window, patience) ?? []
  return sets.flatMap((kids) => {
    if (kids === null) return ['503 ERR_AUTH_KEYS_UNAVAILABLE']
    if (isGenuine && kids.has(kid)) return ['proved']
    return isGenuine && isDue(kid, issuer, circumstances) ? [] : [INVALID]
  })
}

/** Whether a key has been there for so long that each process can have it. */
function isDue(
  kid: string,
  { published, outages }: TrustedIssuer,
  { window: { from, until }, patience }: Circumstances,
): boolean {
  // A fetch that was late for a stall has failed, and is repeated.
  const by = patience === 0 ? from : from - patience - KEYS_RECOVERY * 1000
  const looked = { from: by - (TIMES.keysCooldown + ON_THE_WAY) * 1000, until }
  const isPublished = published.during(looked).every(({ value }) => value.has(kid))
  return isPublished && outages.wasWell(by - KEYS_RECOVERY * 1000, until)
}
