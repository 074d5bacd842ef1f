import type { KeyObject } from 'node:crypto'
import { isObject, ownProperty } from '../../platform/runtime/own-property.ts'
import { tokenRefusal } from './token-refusal.ts'

/** The option `confirmation`. A route that requires a bound token checks that by itself. */
export type ConfirmationRule = 'refuse' | 'ignore' | 'check' | 'require'

export function asksForProof(rule: ConfirmationRule | undefined): boolean {
  return rule === 'check' || rule === 'require'
}

/** A SHA-256 digest in base64url. */
const THUMBPRINT = /^[A-Za-z0-9_-]{43}$/

/**
 * The keys that the sender of a token has to hold: the known members of its `cnf` (RFC 7800 §3.1),
 * at least one. Immutable, but for the key that it remembers.
 */
export class Confirmation {
  /** The thumbprint of the key of DPoP proofs (RFC 9449 §6.1). */
  readonly jkt: string | null
  /** `x5t#S256`, the thumbprint of a certificate (RFC 8705 §3.1). */
  readonly x5t: string | null
  /** The key of `jkt`, once a proof has brought it, with the last header that did. */
  proofKey: ProofKey | null = null

  constructor(jkt: string | null, x5t: string | null) {
    this.jkt = jkt
    this.x5t = x5t
  }
}

export interface ProofKey {
  /** The header of the proof, as it stands there; null: too long to be kept. */
  readonly header: string | null
  readonly alg: string
  readonly key: KeyObject
}

/**
 * The confirmation of a token that is bound to its sender. Authorization servers add members, so an
 * unknown one beside a known one is ignored.
 *
 * @throws ERR_AUTH_TOKEN_INVALID if `cnf` is malformed, or names no key that can be proved here
 */
export function readConfirmation(cnf: unknown): Confirmation {
  const jkt = thumbprint(cnf, 'jkt')
  const x5t = thumbprint(cnf, 'x5t#S256')
  if (jkt === null && x5t === null) throw tokenRefusal('bound to its sender in an unknown way')
  return new Confirmation(jkt, x5t)
}

function thumbprint(cnf: unknown, name: 'jkt' | 'x5t#S256'): string | null {
  const value = isObject(cnf) ? ownProperty(cnf, name) : null
  if (value === undefined) return null
  if (typeof value === 'string' && THUMBPRINT.test(value)) return value
  throw tokenRefusal('cnf is malformed')
}
