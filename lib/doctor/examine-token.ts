import type { IssuerEntry } from '../authentication/issuer-entry.ts'
import { verifySignature } from '../keys/algorithms.ts'
import type { KeySet } from '../keys/key-set.ts'
import type { Settings } from '../settings/options.ts'
import { type CompactJws, parseCompactJws } from '../tokens/compact-jws.ts'
import { acceptedTypes, isJwt, JoseHeaders } from '../tokens/jose-header.ts'
import { mismatch } from '../tokens/mismatch.ts'
import { SignatureMismatch, TokenRefused } from '../tokens/token-refused.ts'
import { examineLength } from './examine-length.ts'
import { doubtful, type Finding, fine, wrong } from './finding.ts'
import { issuerDetail, tokenFinding } from './token-cures.ts'
import { orRefusal, refusalsOf } from './token-refusals.ts'

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
