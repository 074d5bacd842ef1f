import type { StepUp } from '../../errors.ts'
import { isPlainObject, knownMembers } from '../../platform/runtime/own-property.ts'
import type { Login } from '../jwt/registered-claims.ts'

/** Values of `acr`, any of which will do, in order of preference. */
type AcrValues = string | readonly string[]

/** The login that is wanted, as an application writes it: one member, or both. */
export type StepUpDeclaration =
  | { readonly acr: AcrValues; readonly maxAge?: number }
  | { readonly acr?: AcrValues; readonly maxAge: number }

/** In dev mode nobody has logged in, and any login that is wanted is there. */
export const DEV_LOGIN = Symbol('login of dev mode')

/** The characters of a scope token (RFC 6749 §3.3): a challenge lists them as it lists scopes. */
const ACR = /^[!#-[\]-~]+$/

/** A challenge must be able to name it. */
export function isAcr(value: unknown): value is string {
  return typeof value === 'string' && ACR.test(value)
}

/** A challenge names whole seconds only. */
export function isMaxAge(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/** The login that an application wants: a frozen copy. Undefined: the value is none. */
export function readStepUp(value: unknown): StepUp | undefined {
  if (!isPlainObject(value)) return undefined
  const own = knownMembers(value, ['acr', 'maxAge'])
  if (own === undefined || own.size === 0) return undefined
  const acr = own.has('acr') ? readAcr(own.get('acr')) : []
  const maxAge = own.get('maxAge')
  const isGiven = isMaxAge(maxAge)
  if (acr === undefined || isGiven !== own.has('maxAge')) return undefined
  return Object.freeze({ acr: Object.freeze(acr), maxAge: isGiven ? maxAge : null })
}

/** Undefined if it is empty, or holds anything else. */
function readAcr(value: unknown): string[] | undefined {
  // A copy turns holes into `undefined`, which `every` checks.
  const values: unknown[] = Array.isArray(value) ? [...value] : [value]
  return values.length > 0 && values.every(isAcr) ? [...new Set(values)] : undefined
}

/**
 * Why a login is not what is wanted, for the log; undefined: it is. Asked on each use anew, since
 * it grows older while its token is kept. Of two readings of the clock always the stricter counts.
 */
export function loginFault(
  login: Login | typeof DEV_LOGIN,
  { acr: wanted, maxAge }: StepUp,
): string | undefined {
  if (login === DEV_LOGIN) return undefined
  const { acr, authTime, tolerance } = login
  if (wanted.length > 0) {
    if (acr === null) return 'there is no acr'
    if (!wanted.includes(acr)) return 'the acr is none of those'
  }
  if (maxAge === null) return undefined
  if (authTime === null) return 'there is no auth_time'
  const now = Date.now() / 1000
  if (authTime > Math.floor(now) + tolerance) return 'the login is in the future'
  return now - authTime <= maxAge + tolerance ? undefined : 'the login is too old'
}

/** In words: `acr phr or phrh, at most 300 s old`. */
export function stepUpWords({ acr, maxAge }: StepUp): string {
  const age = maxAge === null ? [] : [`at most ${maxAge} s old`]
  return [...(acr.length === 0 ? [] : [`acr ${acr.join(' or ')}`]), ...age].join(', ')
}
