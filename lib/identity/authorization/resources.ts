import { Unusable, unexpected } from '../../platform/http/failure.ts'
import { ignoreRejection } from '../../platform/runtime/maybe-promise.ts'
import { isPlain } from '../../platform/runtime/own-property.ts'
import { isResources, problemOfResources, type Resources } from '../jwt/user-info.ts'

/**
 * `<name>:<action>`, in the characters of a scope token (RFC 6749 §3.3), because the challenge
 * names it as one.
 */
const RESOURCE_ID = /^[!#-9;-[\]-~]+:[!#-[\]-~]+$/

export function isResourceId(value: unknown): value is string {
  return typeof value === 'string' && RESOURCE_ID.test(value)
}

/** Whose rights are asked for: by the verified token, whatever `mapClaims` made of it. */
export interface TokenUser {
  /** `iss` (RFC 7519 §4.1.1); null: the token has none. */
  readonly issuer: string | null
  /** `sub` (RFC 7519 §4.1.2), which is unique within one issuer only. Never empty. */
  readonly sub: string
}

/**
 * The rights of a user, in the shape of the claim `resources`; `null`: the user is not known,
 * and has no rights.
 *
 * @throws anything if that is not known now, which is answered with 503
 */
export type ResourcesOf = (user: TokenUser) => Resources | null | Promise<Resources | null>

/** A member of an issuer: a function, or the word for none. */
export function isResourcesOf(value: unknown): value is ResourcesOf | 'claims' {
  return value === 'claims' || typeof value === 'function'
}

/**
 * An application's answer, in the shape of the claim `resources`: a frozen copy of it,
 * since the application may change or share it. A Map, or an object of a class, must not count as
 * one without tenants.
 *
 * @throws Unusable if it has another shape, and what a getter or a proxy throws
 */
export function readResources(answer: unknown): Resources {
  if (typeof answer !== 'object' || answer === null) {
    throw unexpected('the answer', 'an object or null', answer)
  }
  if (!isPlain(answer)) throw new Unusable('the answer: expected a plain object, found another one')
  // Spreading turns the holes of a sparse list into `undefined`, which the check finds.
  const lists = Object.entries(answer).map(
    ([tenant, ids]: [string, unknown]) => [tenant, Array.isArray(ids) ? [...ids] : ids] as const,
  )
  // Not by assignment: a tenant may be called `__proto__`.
  const copy: object = Object.fromEntries(lists)
  if (!isResources(copy)) {
    for (const ids of Object.values(copy)) ignoreRejection(ids)
    throw problemOfResources(copy)
  }
  for (const ids of Object.values(copy)) Object.freeze(ids)
  return Object.freeze(copy)
}
