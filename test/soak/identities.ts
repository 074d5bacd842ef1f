import { NO_ANSWER } from './answer-history.ts'
import type { Ask, Circumstances } from './oracle.ts'
import { CALL } from './routes.ts'
import { AUDIENCE, CLIENT, KEYS_RECOVERY, ON_THE_WAY, STORE_RECOVERY, TIMES } from './settings.ts'
import { type Claims, type Jwt, LOGOUT, type Token } from './token.ts'
import type { TrustedIssuer } from './world.ts'

/** A user who has proved who it is. */
export interface Identity {
  readonly claims: Claims
  readonly tenants: TrustedIssuer['tenants']
}

/** Whether a key, or a secret, has proved a token, or the verdict instead. */
type Proved = 'proved' | (string & {})

const INVALID = '401 ERR_AUTH_TOKEN_INVALID'

/** Whom a token may stand for, and the verdicts on it where it may be refused. */
export function identitiesOf(
  ask: Ask,
  token: Token,
  circumstances: Circumstances,
): (Identity | string)[] {
  const bound = (claims: Claims, proofs: readonly Proved[] = ['proved']): Proved[] => {
    const possessed = possessions(ask, claims, circumstances)
    const others = proofs.filter((proof) => proof !== 'proved')
    if (possessed.includes('proved'))
      return proofs.includes('proved') ? [...others, ...possessed] : others
    // What no proof can save may be refused before its keys are looked for.
    return [...others, ...possessed, INVALID]
  }
  if (token.kind === 'jwt') {
    // Its `events` say that it is a logout token.
    if (Object.hasOwn(token.claims.events ?? {}, LOGOUT)) return [INVALID]
    return believed(token.claims, circumstances, (issuer) =>
      bound(token.claims, proofs(token, issuer, circumstances)),
    )
  }
  const { process, window, patience } = circumstances
  // The function of the applications waits for the check of a signature.
  const late = patience > 0 ? ['503 ERR_AUTH_INTROSPECTION_UNAVAILABLE'] : []
  if (token.kind === 'secret' && token.isGenuine) {
    return [...late, ...believed(token.claims, circumstances, () => bound(token.claims))]
  }
  const found = process.opaque.during(token.text, window, patience).flatMap((answer) => {
    if (answer === NO_ANSWER) return ['503 ERR_AUTH_INTROSPECTION_UNAVAILABLE']
    if (answer === null) return [INVALID]
    return believed(answer, circumstances, () => bound(answer))
  })
  return [...late, ...found]
}

/** Claims for us, of an issuer that is trusted, in their time. */
function believed(
  claims: Claims,
  circumstances: Circumstances,
  prove: (issuer: TrustedIssuer) => Proved[],
): (Identity | string)[] {
  const issuer = circumstances.world.issuers.get(claims.iss)
  if (issuer === undefined || claims.aud !== AUDIENCE) return [INVALID]
  const { mayBeOver, mayBeValid } = lifeOf(claims, circumstances)
  const proved = mayBeValid
    ? prove(issuer).map((proof) =>
        proof === 'proved' ? { claims, tenants: issuer.tenants } : proof,
      )
    : []
  return [...(mayBeOver ? [INVALID] : []), ...proved]
}

/** Section 20: `proved`, and the verdicts on a logout token instead. */
export function logoutOf(token: Token | null, circumstances: Circumstances): Proved[] {
  const BAD = '400 invalid_request'
  if (token?.kind !== 'jwt') return [BAD]
  const { claims, typ } = token
  const issuer = circumstances.world.issuers.get(claims.iss)
  const isLogout = Object.hasOwn(claims.events ?? {}, LOGOUT) && claims.nonce === undefined
  const isTyped = typ === 'logout+jwt' || typ === 'JWT'
  // What has a fault may be refused before its keys are looked for.
  const isGood = issuer !== undefined && isLogout && isTyped && claims.aud === CLIENT
  const { mayBeOver, mayBeValid } = lifeOf(claims, circumstances)
  const keys = issuer === undefined ? [] : proofs(token, issuer, circumstances)
  const found = keys.map((proof) => {
    if (proof === INVALID) return BAD
    return proof === 'proved' ? proof : '503 temporarily_unavailable'
  })
  if (!isGood || !mayBeValid) return [BAD, ...found.filter((proof) => proof.startsWith('503'))]
  return [...(mayBeOver ? [BAD] : []), ...found]
}

/** The earliest and the latest time that a process may have seen, in seconds since the epoch. */
export function clockOf({ process, window }: Circumstances) {
  const offsets = process.clock.during(window).map(({ value }) => value)
  return {
    earliest: (window.wall.from + Math.min(...offsets)) / 1000,
    latest: (window.wall.until + Math.max(...offsets)) / 1000,
  }
}

/** By the wall clock of the process, which may have been set meanwhile. */
function lifeOf(claims: Claims, circumstances: Circumstances) {
  const { earliest, latest } = clockOf(circumstances)
  const start = Math.max(claims.iat, claims.nbf ?? claims.iat) - TIMES.clockTolerance
  const end = claims.exp + TIMES.clockTolerance
  return {
    mayBeValid: earliest < end && Math.floor(latest) >= start,
    mayBeOver: latest >= end || Math.floor(earliest) < start,
  }
}

/** Section 19: whether the sender of a token holds its key. A call proves nothing. */
function possessions(ask: Ask, { cnf = {} }: Claims, circumstances: Circumstances): Proved[] {
  const isBound = Object.keys(cnf).length > 0
  if (!isBound) return [ask.proof === null ? 'proved' : INVALID]
  if (ask.route === CALL || ask.proof?.isGood !== true) return [INVALID]
  const { earliest, latest } = clockOf(circumstances)
  const { iat } = ask.proof
  const mayBeOld = latest >= iat + TIMES.proofMaxAge
  const mayBeAhead = iat - earliest > TIMES.proofMaxAge
  const isOutside = earliest >= iat + TIMES.proofMaxAge || iat - latest > TIMES.proofMaxAge
  if (isOutside) return [INVALID]
  const { process, world, window, patience } = circumstances
  const by = window.from - STORE_RECOVERY * 1000 - patience
  const mayNotBeKnown =
    process.rightsFrom === 'application' && (patience > 0 || !world.store.wasWell(by, window.until))
  // The client sends a command again whose answer was lost: then its first time is its second.
  const mayBeSentAgain =
    process.rightsFrom === 'application' && !world.store.wasWell(window.from, window.until)
  return [
    ask.proof.isTaken ? INVALID : 'proved',
    ...(mayBeOld || mayBeAhead || mayBeSentAgain ? [INVALID] : []),
    ...(mayNotBeKnown ? ['503 ERR_AUTH_PROOFS_UNAVAILABLE'] : []),
  ]
}

/** `proved`, and the verdicts that the keys of the process allow instead. */
function proofs(
  { kid, isGenuine, isSigned }: Jwt,
  issuer: TrustedIssuer,
  circumstances: Circumstances,
): Proved[] {
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
