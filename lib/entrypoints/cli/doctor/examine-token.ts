import { maxHeaderSize } from 'node:http'
import type { Settings } from '../../../config/options.ts'
import { ERR_AUTH_TOKEN_INVALID } from '../../../errors.ts'
import type { IssuerEntry } from '../../../identity/authentication/issuer.ts'
import { FORGED } from '../../../identity/authentication/key-lookup.ts'
import { verifySignature } from '../../../identity/jwks/algorithms.ts'
import type { KeySet } from '../../../identity/jwks/jwk-set.ts'
import {
  type CompactJws,
  isJwt,
  type JoseHeader,
  JoseHeaders,
  parseCompactJws,
} from '../../../identity/jwt/compact-jws.ts'
import { asksForProof, readConfirmation } from '../../../identity/jwt/confirmation.ts'
import {
  checkHasEnd,
  claimsRefusal,
  isBound,
  lifetimeRefusal,
  readActors,
  readLifetime,
  registeredClaims,
} from '../../../identity/jwt/registered-claims.ts'
import { mismatch, tokenRefusal } from '../../../identity/jwt/token-refusal.ts'
import { readUserInfo } from '../../../identity/jwt/user-info.ts'
import { acceptedTypes, checkHeader, type VerifyRules } from '../../../identity/jwt/verify.ts'
import type { TenantAddresses } from '../../../identity/tenants/tenant-addresses.ts'
import { doubtful, type Finding, fine, spellingDifference, wrong } from './finding.ts'

export interface KnownIssuer {
  readonly entry: IssuerEntry
  readonly keys?: KeySet
}

/**
 * All reasons for which the guard would refuse a token. Of its content the findings show only
 * unexpected values: issuer, audience, algorithm, type, and the name of the key.
 */
export function examineToken(
  token: string,
  issuers: readonly KnownIssuer[],
  settings: Settings,
  addresses?: TenantAddresses,
): readonly Finding[] {
  const length = examineLength(token, settings.maxTokenLength)
  if (!isJwt(token)) return [...length, NO_JWT]
  const read = orRefusal(() => {
    const jws = parseCompactJws(token, Number.POSITIVE_INFINITY, new JoseHeaders())
    return { jws, claims: jws.payload.read() }
  })
  if (read instanceof ERR_AUTH_TOKEN_INVALID) return [...length, tokenFinding(read)]
  const findings = [...length, ...examineJwt(read.jws, read.claims, issuers, settings, addresses)]
  const isRefused = findings.some(({ level }) => level === 'wrong')
  return isRefused ? findings.filter(({ level }) => level !== 'ok') : findings
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
  addresses: TenantAddresses | undefined,
): readonly Finding[] {
  const iss = String(jws.payload.iss)
  const accepted = issuers.flatMap(({ entry }) => entry.issuer ?? [])
  const [only, ...others] = issuers
  const named = issuers.find(({ entry }) => entry.issuer?.includes(iss))
  const issuer = others.length === 0 ? only : named
  if (issuer === undefined) {
    const refusal = tokenRefusal(UNKNOWN, mismatch('iss', accepted, jws.payload.iss))
    return [tokenFinding(refusal, issuerDetail(accepted, iss))]
  }
  const { entry, keys } = issuer
  const rules = {
    ...entry,
    algorithms: new Set(entry.algorithms),
    tokenTypes: new Set(acceptedTypes(entry.tokenTypes)),
    addresses,
    confirmation: settings.confirmation,
    clockTolerance: settings.clockTolerance,
  }
  const refusals = refusalsOf(jws.header, claims, rules).map((refusal) =>
    tokenFinding(refusal, refusal.reason === UNKNOWN ? issuerDetail(accepted, iss) : ''),
  )
  if (keys === undefined) return [...refusals, KEYLESS]
  const forged = signatureRefusal(jws, keys)
  if (forged !== undefined) return [...refusals, tokenFinding(forged)]
  if (refusals.length > 0) return refusals
  return [examineProof(jws, settings), ...(Object.hasOwn(claims, 'resources') ? [] : [NO_RIGHTS])]
}

function examineProof({ payload }: CompactJws, { confirmation }: Settings): Finding {
  const { cnf } = registeredClaims(payload.read())
  if (asksForProof(confirmation) && isBound(cnf)) {
    const { jkt, x5t } = readConfirmation(cnf)
    const ways = [...(jkt ? ['a DPoP proof'] : []), ...(x5t ? ['its client certificate'] : [])]
    return fine(`token: it is accepted together with ${ways.join(' and ')}`)
  }
  if (confirmation !== 'require') return fine('token: it is accepted')
  return wrong(
    'token: it is not bound to its sender',
    'ask for a bound one, or confirmation = check',
  )
}

const UNKNOWN = 'the issuer is not accepted'

const KEYLESS = doubtful('token: its signature cannot be checked', 'mend the keys first')

function signatureRefusal(
  { header, signingInput, signature }: CompactJws,
  keys: KeySet,
): ERR_AUTH_TOKEN_INVALID | undefined {
  const key = keys.find(header)
  if (key === 'unknown') {
    return tokenRefusal('the key is unknown', mismatch('kid', keys.kids, header.kid))
  }
  if (key === 'unfit') return tokenRefusal('no key fits')
  const isSigned = verifySignature(header.alg, key.key, signingInput, signature)
  return isSigned ? undefined : tokenRefusal(FORGED)
}

/** Usual bytes of the other headers, from browsers and gateways. */
const OTHERS = 4096

const LENGTH_CURE =
  'raise http.maxHeaderSize of Fastify and of the gateways, or take rights from a database by resourcesOf'

/**
 * Compares the length of a token with both limits: ours, and that of Node for all headers of a
 * request together, beyond which it answers 431 by itself.
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
  const size = 'authorization: Bearer \r\n'.length + length
  const against = `token: its header takes ${size} of the ${maxHeaderSize} bytes that Node reads`
  if (size > maxHeaderSize) findings.push(wrong(against, LENGTH_CURE))
  else if (size + OTHERS > maxHeaderSize) findings.push(doubtful(against, LENGTH_CURE))
  return findings
}

/**
 * All refusals of a token but those of its key. The guard stops at the first; here each check runs
 * by itself.
 */
function refusalsOf(
  header: JoseHeader,
  claims: Record<string, unknown>,
  rules: VerifyRules,
): ERR_AUTH_TOKEN_INVALID[] {
  const { alg, type } = header
  const { algorithms, tokenTypes, issuer, audience, addresses } = rules
  const { confirmation, clockTolerance } = rules
  const own = { algorithms: new Set([alg]), tokenTypes: new Set([type]) }
  const anybody = { confirmation: 'ignore' } as const
  const registered = registeredClaims(claims)
  const checks: readonly (() => unknown)[] = [
    () => checkHeader(header, { ...own, algorithms }),
    () => checkHeader(header, { ...own, tokenTypes }),
    () => claimsRefusal(registered, { ...anybody, issuer }),
    () => claimsRefusal(registered, { ...anybody, audience, addresses }),
    () => claimsRefusal(registered, { confirmation }),
    () => lifetimeRefusal(readLifetime(registered), clockTolerance),
    () => checkHasEnd(readLifetime(registered)),
    () => readActors(registered),
    // The last: it freezes the claims.
    () => readUserInfo(claims),
  ]
  const refusals = checks
    .map(orRefusal)
    .filter((result) => result instanceof ERR_AUTH_TOKEN_INVALID)
  return [...new Map(refusals.map((refusal) => [refusal.reason, refusal])).values()]
}

export function orRefusal<T>(make: () => T): T | ERR_AUTH_TOKEN_INVALID {
  try {
    return make()
  } catch (error) {
    if (error instanceof ERR_AUTH_TOKEN_INVALID) return error
    throw error
  }
}

const CLOCK = 'compare the clocks of the server and of this machine'

const COPY = 'give the whole token as it is, without quotes, spaces or line breaks'

const CURES: ReadonlyMap<string, string> = new Map([
  ['not three parts', COPY],
  ['a part is not base64url', COPY],
  ['a part is not UTF-8', COPY],
  ['a part is not JSON', COPY],
  ['a part is not a JSON object', COPY],
  ['the signature does not match', 'was it cut or changed? Otherwise another server has signed it'],
  ['the algorithm is not allowed', 'name it in algorithms if the server should sign with it'],
  [
    'signed with a secret, not with a key: sharedSecret as opaqueToken takes such access tokens',
    'give it in code, from fastify-tenant-auth/introspection, for as long as you move to keys',
  ],
  [
    'the token type is not allowed',
    'is it an access token? If so, name its typ in token_types; an ID token is none',
  ],
  ['the issuer is not accepted', 'write issuer exactly as the token has it, if you trust it'],
  ['the audience is not accepted', 'ask the server for a token for this API, or correct audience'],
  ['bound to its sender', 'ask for a bearer token, which has no cnf, or confirmation = check'],
  ['the key is unknown', 'is it of this server, and of now? Get a new one'],
  ['no key fits', 'let each key of the server have a kid of its own, and the alg of its tokens'],
  ['expired', `get a new one; if it is new, ${CLOCK}`],
  ['not valid yet', CLOCK],
  ['issued in the future', CLOCK],
  ['exp is missing', 'let the server say when its tokens end'],
])

/** Code may say what the INI file cannot. */
const MALFORMED = 'sub, resources or preferred_username is malformed'
const MAPPING =
  'give mapClaims in code, if it is not there: a recipe of fastify-tenant-auth/claims may fit'

const NO_RIGHTS = doubtful(
  'token: it has no claim resources, and so no tenant and no right',
  `${MAPPING}; or resourcesOf has the rights`,
)

function tokenFinding({ reason, mismatch }: ERR_AUTH_TOKEN_INVALID, detail = ''): Finding {
  if (reason === MALFORMED) return doubtful(`token: ${reason}`, MAPPING)
  const cure = CURES.get(reason) ?? 'let the server make its tokens otherwise'
  if (mismatch === undefined) return wrong(`token: ${reason}${detail}`, cure)
  const { expected, unverified } = mismatch
  return wrong(`token: ${reason}${detail}: expected ${expected}, found ${unverified}`, cure)
}

/** The difference in spelling between a token's issuer and an accepted one, in words. */
function issuerDetail(accepted: readonly string[], found: string): string {
  const differences = accepted.map((each) => spellingDifference(each, found))
  const difference = differences.find((each) => each !== null)
  return difference ? ` (it differs in ${difference})` : ''
}
