// Outside: functions that an application got from a door of ours and gave back as an option. Some
// hold a connection or a timer, which must begin and end with the service.

import type { ReportsOf } from './ask-application.ts'
import type { DocumentState } from './document-state.ts'

/** The key under which such a function carries its attendant. Other code cannot name it. */
export const ATTENDED: unique symbol = Symbol('fastify-tenant-auth.attended')

/**
 * The issuers whose tokens a service accepts; `undefined`: one that is not configured. `asked`: a
 * function tells, which may know many.
 */
export type AcceptedIssuers = readonly (string | undefined)[] | 'asked'

/** Which tokens a service accepts. */
export interface AcceptedTokens {
  readonly issuers: AcceptedIssuers
  /** Seconds beyond their end for which tokens are accepted. */
  readonly clockTolerance: number
}

/**
 * The part of a function that begins with the first installation of a service and ends with the
 * last one.
 */
export interface Attended {
  /**
   * @param onFailure tells the operator of a failure, in constant text, at level error
   * @param accepted by the service that opens it
   * @param reports told of the failures of the application's functions behind this one
   */
  open(onFailure: (reason: string) => void, accepted?: AcceptedTokens, reports?: ReportsOf): void
  close(): void
  /** Whether the function can be asked now. */
  readonly isReady: boolean
  /** Of what it keeps of another server; undefined: nothing. */
  state(): DocumentState | undefined
}

/** The attendant of an option's value, where it has one. */
export function attendantOf(value: unknown): Attended | undefined {
  if (typeof value !== 'function' || !isAttended(value)) return undefined
  return value[ATTENDED]
}

function isAttended(value: object): value is { readonly [ATTENDED]: Attended } {
  return Object.hasOwn(value, ATTENDED)
}
