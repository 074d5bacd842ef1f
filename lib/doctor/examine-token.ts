import { maxHeaderSize } from 'node:http'
import type { IssuerEntry } from '../authentication/issuer-entry.ts'
import { verifySignature } from '../keys/algorithms.ts'
import type { KeySet } from '../keys/key-set.ts'
import type { Settings } from '../settings/options.ts'
import { readActor } from '../tokens/actor.ts'
import { type CompactJws, parseCompactJws } from '../tokens/compact-jws.ts'
import {
  acceptedTypes,
  checkHeader,
  isJwt,
  type JoseHeader,
  JoseHeaders,
  normalizeTokenType,
} from '../tokens/jose-header.ts'
import { mismatch } from '../tokens/mismatch.ts'
import { readLifetime, refusedClaims, refusedLifetime } from '../tokens/registered-claims.ts'
import { SignatureMismatch, TokenRefused } from '../tokens/token-refused.ts'
import { readUserInfo } from '../tokens/user-info.ts'
import { refuseEndless, type VerifyRules } from '../tokens/verify-token.ts'
import { doubtful, type Finding, fine, wrong } from './finding.ts'
import { issuerDetail, tokenFinding } from './token-cures.ts'

/** An issuer whose keys were looked at. */
export interface KnownIssuer {
  readonly entry: IssuerEntry
  readonly keys?: KeySet
}

/**
 * What the guard would say to a token, all reasons at once. What it holds is not told, but for what
 * was expected otherwise: issuer, audience, algorithm, type, and the name of the key.
 */
export function examineToken(
  token: string,
  issuers: readonly KnownIssuer[],
  settings: Settings,
): readonly Finding[] {
  const findings = [
    ...examineLength(token, settings.maxTokenLength),
    ...examineContent(token, issuers, settings),
  ]
  const isRefused = findings.some(({ level }) => level === 'wrong')
  return isRefused ? findings.filter(({ level }) => level !== 'ok') : findings
}

function examineContent(
  token: string,
  issuers: readonly KnownIssuer[],
  settings: Settings,
): readonly Finding[] {
  if (!isJwt(token)) return [NO_JWT]
  const read = orRefusal(() => {
    const jws = parseCompactJws(token, Number.POSITIVE_INFINITY, new JoseHeaders())
    return { jws, claims: jws.payload.read() }
  })
  if (read instanceof TokenRefused) return [tokenFinding(read)]
  return examineJwt(read.jws, read.claims, issuers, settings)
}

const NO_JWT = wrong(
  'token: it is no JWT, which an INI file cannot allow for',
  'give opaqueToken in code, such as introspection({ issuer, clientId, clientSecret }) of fastify-tenant-auth/introspection, or let the server issue JWTs',
)

function examineJwt(
  jws: CompactJws,
  claims: Record<string, unknown>,
  issuers: readonly KnownIssuer[],
  settings: Settings,
): readonly Finding[] {
  const iss = String(jws.payload.iss)
  const accepted = issuers.flatMap(({ entry }) => entry.issuer ?? [])
  const [only, ...others] = issuers
  const named = issuers.find(({ entry }) => entry.issuer?.includes(iss))
  const issuer = others.length === 0 ? only : named
  if (issuer === undefined) {
    const refusal = new TokenRefused(UNKNOWN, mismatch('iss', accepted, jws.payload.iss))
    return [tokenFinding(refusal, issuerDetail(accepted, iss))]
  }
  const { entry, keys } = issuer
  const rules = {
    ...entry,
    algorithms: new Set(entry.algorithms),
    tokenTypes: new Set(acceptedTypes(entry.tokenTypes)),
    confirmation: settings.confirmation,
    clockTolerance: settings.clockTolerance,
  }
  const refusals = refusalsOf(jws.header, claims, rules).map((refusal) =>
    tokenFinding(refusal, refusal.reason === UNKNOWN ? issuerDetail(accepted, iss) : ''),
  )
  if (keys === undefined) return [...refusals, KEYLESS]
  const forged = signatureRefusal(jws, keys)
  if (forged !== undefined) return [...refusals, tokenFinding(forged)]
  return refusals.length > 0 ? refusals : [fine('token: it is accepted')]
}

const UNKNOWN = 'the issuer is not accepted'

const KEYLESS = doubtful('token: its signature cannot be checked', 'mend the keys first')

/** By the key that the header chooses. */
function signatureRefusal(
  { header, signingInput, signature }: CompactJws,
  keys: KeySet,
): TokenRefused | undefined {
  const key = keys.find(header)
  if (key === 'unknown') {
    return new TokenRefused('the key is unknown', mismatch('kid', keys.kids, header.kid))
  }
  if (key === 'unfit') return new TokenRefused('no key fits')
  const isSigned = verifySignature(header.alg, key.key, signingInput, signature)
  return isSigned ? undefined : new SignatureMismatch()
}

/** Bytes of the header line around a token. */
const HEADER_LINE = 'authorization: Bearer \r\n'.length

/** Bytes that browsers and gateways send beside it, on a usual day. */
const OTHERS = 4096

const LENGTH_CURE =
  'raise http.maxHeaderSize of Fastify and of the gateways, or take rights from a database by resourcesOf'

/**
 * The length of a token against both limits: ours, and that of Node for all headers of a request
 * together, beyond which it answers 431 by itself.
 *
 * @param limit characters
 */
function examineLength(token: string, limit: number): Finding[] {
  const { length } = token
  const findings: Finding[] = []
  if (length > limit) {
    const cure = `raise max_token_length; and ${LENGTH_CURE}`
    findings.push(wrong(`token: its ${length} characters are more than ${limit}`, cure))
  }
  const size = length + HEADER_LINE
  const against = `token: its header takes ${size} of the ${maxHeaderSize} bytes that Node reads`
  if (size > maxHeaderSize) findings.push(wrong(against, LENGTH_CURE))
  else if (size + OTHERS > maxHeaderSize) findings.push(doubtful(against, LENGTH_CURE))
  return findings
}

/**
 * Every reason for which the guard refuses a token that is not about its key. The guard stops at
 * the first; here each check is run by itself.
 */
function refusalsOf(
  header: JoseHeader,
  claims: Record<string, unknown>,
  rules: VerifyRules,
): TokenRefused[] {
  const { alg, typ } = header
  const { algorithms, tokenTypes, issuer, audience, confirmation, clockTolerance } = rules
  const own = {
    algorithms: new Set([alg]),
    tokenTypes: new Set([typ === undefined ? typ : normalizeTokenType(typ)]),
  }
  const anybody = { confirmation: 'ignore' } as const
  const checks: readonly (() => unknown)[] = [
    () => checkHeader(header, { ...own, algorithms }),
    () => checkHeader(header, { ...own, tokenTypes }),
    () => refusedClaims(claims, { ...anybody, issuer }),
    () => refusedClaims(claims, { ...anybody, audience }),
    () => refusedClaims(claims, { confirmation }),
    () => refusedLifetime(readLifetime(claims), clockTolerance),
    () => refuseEndless(readLifetime(claims)),
    () => readActor(claims),
    // The last: it freezes the claims.
    () => readUserInfo(claims),
  ]
  const refusals = checks.map(orRefusal).filter((result) => result instanceof TokenRefused)
  return [...new Map(refusals.map((refusal) => [refusal.reason, refusal])).values()]
}

/** What a function gives, or its refusal. */
export function orRefusal<T>(make: () => T): T | TokenRefused {
  try {
    return make()
  } catch (error) {
    if (error instanceof TokenRefused) return error
    throw error
  }
}
