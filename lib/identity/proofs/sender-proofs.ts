import { hash, X509Certificate } from 'node:crypto'
import { Server } from 'node:tls'
import type { FastifyRequest } from 'fastify'
import { asksForProof, type ConfirmationRule } from '../jwt/confirmation.ts'

/** Gives the certificate of a request's client, as DER or PEM; null: it has shown none. */
export type ClientCertificate = (request: FastifyRequest) => Buffer | string | null

/**
 * The certificate of the TLS connection (RFC 8705 §3). The handshake has proved that the client
 * holds its key, whoever has issued it. `socket.authorized` is not read: on Node 20 it is true in
 * resumed sessions without a certificate.
 */
export const certificateOfSocket: ClientCertificate = ({ raw: { socket } }) => {
  const getPeer: unknown = Reflect.get(socket, 'getPeerX509Certificate')
  if (typeof getPeer !== 'function') return null
  const certificate: unknown = Reflect.apply(getPeer, socket, [])
  return certificate instanceof X509Certificate ? certificate.raw : null
}

/**
 * The thumbprint of a certificate (RFC 8705 §3.1); null: there is none.
 *
 * @throws TypeError, and what Node throws if it is no certificate
 */
export function thumbprintOfCertificate(certificate: unknown): string | null {
  if (certificate === null) return null
  if (typeof certificate !== 'string' && !Buffer.isBuffer(certificate)) {
    throw new TypeError('the certificate is neither a Buffer, a string nor null')
  }
  return hash('sha256', new X509Certificate(certificate).raw, 'base64url')
}

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
  {
    confirmation,
    clientCertificate,
  }: { readonly confirmation: ConfirmationRule; readonly clientCertificate?: unknown },
  server: object,
): SenderProofs {
  const dpop = asksForProof(confirmation)
  const isAsked = server instanceof Server && Reflect.get(server, 'requestCert') !== false
  return { dpop, certificate: dpop && (clientCertificate !== undefined || isAsked) }
}
