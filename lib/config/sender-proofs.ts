import { Server } from 'node:tls'
import { asksForProof } from '../identity/jwt/confirmation.ts'
import type { Settings } from './options.ts'

/** The ways in which senders of bound tokens can prove that they hold the keys. */
export interface SenderProofs {
  /** By a proof of RFC 9449. */
  readonly dpop: boolean
  /** By a certificate, as RFC 8705 says. */
  readonly certificate: boolean
}

/**
 * The proofs of an application: by the options, and by its server, which may ask for certificates.
 */
export function senderProofs(
  { confirmation, clientCertificate }: Pick<Settings, 'confirmation' | 'clientCertificate'>,
  server: object,
): SenderProofs {
  const dpop = asksForProof(confirmation)
  const isAsked = server instanceof Server && Reflect.get(server, 'requestCert') !== false
  return { dpop, certificate: dpop && (clientCertificate !== undefined || isAsked) }
}
