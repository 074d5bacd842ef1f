// Outside: operators who watch the documents of other servers from outside of this package.

import { channel } from 'node:diagnostics_channel'
import type { DocumentChange, TellChange } from './document-state.ts'

/**
 * A message of the channel `fastify-tenant-auth:document`: what has become of something that
 * decisions rest on. Immutable.
 */
export interface DocumentEvent {
  /** Keys of an issuer, an answer of the function in `issuers`, tenants, or a deny list. */
  readonly kind: 'keys' | 'issuer' | 'tenants' | 'denyList'
  /**
   * Of keys the name of their issuer, of an answer the issuer that was asked about, of the others
   * their kind. An issuer that the function has not answered for is what an unverified token says.
   */
  readonly name: string
  /** `stale`: it serves beyond its age while no new one can be had. `gone`: it serves no more. */
  readonly event: DocumentChange
  /** Seconds since it was had last; null: never. */
  readonly age: number | null
  /** Why the last attempt failed, in constant words; null: it did not. */
  readonly reason: string | null
}

const documents = channel('fastify-tenant-auth:document')

/** Tells the channel what becomes of one document. */
export function tellingOf(kind: DocumentEvent['kind'], name: string): TellChange {
  return (event, { age, failure: reason }) => {
    if (!documents.hasSubscribers) return
    const message: DocumentEvent = { kind, name, event, age, reason }
    documents.publish(Object.freeze(message))
  }
}
