import { types } from 'node:util'
import type { AuthError } from '../../errors.ts'
import {
  type ReportFailure,
  reportRejection,
  thrown,
  unusable,
} from '../../platform/callbacks/call-with-timeout.ts'
import { Unusable, unexpected } from '../../platform/http/failure.ts'
import { isObject, isPlain, ownMember } from '../../platform/runtime/own-property.ts'
import { supportedAlgorithms, verifySignature } from '../jwks/algorithms.ts'
import type { VerificationKey } from '../jwks/jwk.ts'
import type { AddressedTenants } from './addressed-tenants.ts'
import {
  type CompactJws,
  isSymmetric,
  type JoseHeader,
  normalizeTokenType,
  type UnverifiedPayload,
} from './compact-jws.ts'
import { asksForProof, type Confirmation, readConfirmation } from './confirmation.ts'
import {
  type Actor,
  type ClaimRules,
  checkHasEnd,
  claimsRefusal,
  isBound,
  type Lifetime,
  type Login,
  lifetimeRefusal,
  problemOfTimes,
  type RegisteredClaims,
  readActors,
  readAddressed,
  readLifetime,
  readLogin,
  readTokenNames,
  registeredClaims,
  type TokenNames,
} from './registered-claims.ts'
import { mismatch, tokenRefusal } from './token-refusal.ts'
import { problemOf, readFlatUserInfo, readUserInfo, type UserInfo } from './user-info.ts'

export interface HeaderRules {
  readonly algorithms: ReadonlySet<string>
  /** Accepted `typ` values, normalized; `undefined` among them: the header may be absent. */
  readonly tokenTypes: ReadonlySet<string | undefined>
}

export interface VerifyRules extends HeaderRules, AcceptRules {}

/**
 * Refuses what no signature of any issuer can save: an algorithm that is not supported here, such
 * as `none` and HS256, and a token without a signature.
 *
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function checkProvable({ header: { alg }, signature }: CompactJws): void {
  if (!supportedAlgorithms.includes(alg)) {
    throw algorithmRefusal(alg, supportedAlgorithms)
  }
  if (signature.length === 0) throw tokenRefusal('there is no signature')
}

/**
 * The refusal of what no signature can save: a header that the rules do not allow, and claims that
 * they do not accept, if these are cheap to read. It costs a part of a signature.
 *
 * @returns undefined: the signature decides
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function earlyRefusal(
  { header, payload, signature }: CompactJws,
  rules: VerifyRules,
): AuthError | undefined {
  checkHeader(header, rules)
  if (signature.length === 0) throw tokenRefusal('there is no signature')
  const { claims } = payload
  if (claims === undefined) return undefined
  const refusal = claimsRefusal(claims, rules)
  if (refusal !== undefined) return refusal
  const lifetime = readLifetime(claims)
  checkHasEnd(lifetime)
  return lifetimeRefusal(lifetime, rules.clockTolerance)
}

export function isSigned(
  { header, signingInput, signature }: CompactJws,
  { key }: VerificationKey,
): boolean {
  return verifySignature(header.alg, key, signingInput, signature)
}

/**
 * Accepts the claims of a token whose signature is good.
 *
 * @param isChecked whether `earlyRefusal` has judged it just now, and no key was waited for
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function acceptToken(
  { payload }: CompactJws,
  rules: VerifyRules,
  isChecked = false,
): AcceptedClaims {
  const { claims } = payload
  const given = payload.read()
  const registered = claims ?? registeredClaims(given)
  if (!isChecked || claims === undefined) {
    checkClaims(registered, rules)
    checkHasEnd(readLifetime(registered))
  }
  return accepted(given, rules, registered, payload)
}

interface AcceptRules extends ClaimRules {
  /** Seconds. */
  readonly clockTolerance: number
  readonly mapClaims?: ((claims: Record<string, unknown>) => UserInfo) | undefined
  readonly reportMapClaims?: ReportFailure | undefined
}

export interface AcceptedClaims {
  /** Not frozen yet. */
  readonly userInfo: UserInfo
  /** Bytes of it in memory; undefined: not measured yet. */
  readonly size: number | undefined
  readonly names: TokenNames
  readonly lifetime: Lifetime
  readonly actors: readonly Actor[]
  readonly login: Login
  /** Null: it is not bound, or that is not checked. */
  readonly confirmation: Confirmation | null
  /** Undefined: it counts in every tenant. */
  readonly addressed: AddressedTenants | undefined
}

/**
 * The user of proven claims. They become the user info, or the argument of `mapClaims`.
 *
 * @param report of the function whose answer they are
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function acceptClaims(
  claims: Record<string, unknown>,
  rules: AcceptRules,
  report?: ReportFailure,
): AcceptedClaims {
  const registered = registeredClaims(claims)
  const problem = problemOfTimes(registered) ?? (rules.mapClaims ? undefined : problemOf(claims))
  if (problem !== undefined) report?.(unusable(problem))
  checkClaims(registered, rules)
  return accepted(claims, rules, registered)
}

function checkClaims(claims: RegisteredClaims, rules: AcceptRules): void {
  const lifetime = readLifetime(claims)
  const refusal = claimsRefusal(claims, rules) ?? lifetimeRefusal(lifetime, rules.clockTolerance)
  if (refusal !== undefined) throw refusal
}

function accepted(
  claims: Record<string, unknown>,
  rules: AcceptRules,
  registered: RegisteredClaims,
  payload?: UnverifiedPayload,
): AcceptedClaims {
  const lifetime = readLifetime(registered)
  // Before the application's function, which may change the claims.
  const names = readTokenNames(registered)
  const actors = readActors(registered)
  const login = readLogin(registered, rules.clockTolerance)
  const addressed = rules.addresses && readAddressed(registered, rules.addresses, rules.audience)
  const mustBeProved = isBound(registered.cnf) && asksForProof(rules.confirmation)
  const confirmation = mustBeProved ? readConfirmation(registered.cnf) : null
  const { mapClaims, reportMapClaims } = rules
  const read = payload?.isCheap ? readFlatUserInfo : readUserInfo
  const userInfo = mapClaims ? mapped(claims, mapClaims, reportMapClaims) : read(claims)
  const size = mapClaims ? undefined : payload?.size
  return { userInfo, size, names, lifetime, actors, login, confirmation, addressed }
}

/**
 * The application's function may return what it shares with others, so a copy of it is frozen and
 * kept.
 */
function mapped(
  claims: Record<string, unknown>,
  mapClaims: (claims: Record<string, unknown>) => UserInfo,
  report?: ReportFailure,
): UserInfo {
  let copy: unknown
  let problem: Unusable | undefined
  try {
    const userInfo: unknown = mapClaims(claims)
    const rights = rightsIn(userInfo)
    const parts = isObject(rights) ? Object.values(rights) : []
    for (const each of [userInfo, rights, ...parts]) reportRejection(each, report)
    // `undefined`, and a function, have no text.
    const text: string | undefined = JSON.stringify(userInfo)
    copy = text === undefined ? userInfo : JSON.parse(text)
    problem = problemOfMapped(userInfo, rights, copy)
  } catch (error) {
    report?.(thrown(error))
    throw tokenRefusal('mapClaims failed')
  }
  if (problem !== undefined) report?.(unusable(problem))
  const userInfo = readUserInfo(copy)
  if (problem !== undefined) throw tokenRefusal('the resources of mapClaims cannot be used')
  return userInfo
}

/** Those of a class may be inherited. A property of Object.prototype is none. */
function rightsIn(userInfo: unknown): unknown {
  if (!isObject(userInfo)) return undefined
  return Object.hasOwn(userInfo, 'resources') || !isPlain(userInfo)
    ? userInfo['resources']
    : undefined
}

/** Rights that the copy lacks, such as those of a Map or of a promise, are not none. */
function problemOfMapped(userInfo: unknown, rights: unknown, copy: unknown): Unusable | undefined {
  if (types.isPromise(userInfo)) return unexpected('the answer', 'an object', userInfo)
  const copied = ownMember(copy, 'resources')
  const isEmpty = isObject(copied) && Object.keys(copied).length === 0
  const isLost = copied === undefined || (isEmpty && isObject(rights) && !isPlain(rights))
  if (rights !== undefined && isLost) {
    return new Unusable('resources: expected a plain object, found another one')
  }
  return problemOf(copy)
}

/** @throws ERR_AUTH_TOKEN_INVALID if the rules do not allow the header */
export function checkHeader({ alg, typ, type }: JoseHeader, rules: HeaderRules): void {
  if (!rules.algorithms.has(alg)) {
    throw algorithmRefusal(alg, rules.algorithms)
  }
  if (!rules.tokenTypes.has(type)) {
    throw tokenRefusal('the token type is not allowed', mismatch('typ', rules.tokenTypes, typ))
  }
}

function algorithmRefusal(alg: string, allowed: Iterable<string>): AuthError {
  const reason = isSymmetric(alg)
    ? 'signed with a secret, not with a key: sharedSecret as opaqueToken takes such access tokens'
    : 'the algorithm is not allowed'
  return tokenRefusal(reason, mismatch('alg', allowed, alg))
}

/** Accepted `typ` values, normalized: the given ones, or those of an access token, or none. */
export function acceptedTypes(given: readonly string[] | undefined): (string | undefined)[] {
  return given?.map(normalizeTokenType) ?? ACCESS_TOKEN_TYPES
}

const ACCESS_TOKEN_TYPES = [normalizeTokenType('JWT'), normalizeTokenType('at+jwt'), undefined]
