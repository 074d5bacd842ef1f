import { channel } from 'node:diagnostics_channel'
import type { Logout } from '../../../identity/jwt/logout-token.ts'

/** A message of the channel `fastify-tenant-auth:logout`: a logout token that came. Immutable. */
export interface LogoutEvent {
  /** The issuer of the token; null: it was not verified. */
  readonly issuer: string | null
  /** Its user; null: not verified, or it names none. */
  readonly sub: string | null
  /** Its session; null: not verified, or it names none. */
  readonly sid: string | null
  /** `unavailable`: it cannot be decided or kept now, so that its sender may try again. */
  readonly outcome: 'accepted' | 'refused' | 'unavailable'
  /** The exact reason, in the constant words of the log; null: accepted. */
  readonly reason: string | null
}

const logouts = channel('fastify-tenant-auth:logout')

/** @param logout null: it was not verified */
export function publishLogout(
  logout: Logout | null,
  outcome: LogoutEvent['outcome'],
  reason: string | null,
): void {
  if (!logouts.hasSubscribers) return
  const { issuer, sub, sid } = logout ?? NOBODY
  const event: LogoutEvent = { issuer, sub, sid, outcome, reason }
  logouts.publish(Object.freeze(event))
}

const NOBODY = { issuer: null, sub: null, sid: null }
