import type { FastifyRequest } from 'fastify'
import { entryPointOptions } from '../../config/option-reader.ts'
import { Custom } from '../../config/option-types.ts'
import { Problems } from '../../config/problems.ts'
import { clock } from '../../platform/runtime/clock.ts'
import { readByteSequence, readEscapedPem, readForwardedCert } from './certificate.ts'
import { isProxies, Proxies, type Sender, senderOf } from './proxies.ts'

const READERS = {
  'client-cert': readByteSequence,
  'x-forwarded-client-cert': readForwardedCert,
  'ssl-client-cert': readEscapedPem,
}

/**
 * A header in which a proxy hands on the client's certificate: `client-cert` of RFC 9440,
 * `x-forwarded-client-cert` of Envoy, or `ssl-client-cert` with nginx's `$ssl_client_escaped_cert`.
 */
export type CertificateHeader = keyof typeof READERS

export interface CertificateHeaderOptions {
  /**
   * Whose header counts: the addresses of the proxies, each with a mask or without one, such as
   * `10.0.0.0/8` or `2001:db8::/32`; `unix` stands for connections on a unix socket of the server.
   * The address is that of the connection, and never that of a header. At least one.
   */
  readonly proxies: readonly string[]
}

const MEMBERS = {
  proxies: Custom(
    "a list of IP addresses, each with a mask or without, or 'unix', at least one",
    isProxies,
  ),
}

/** Most characters of a header. */
const LONGEST = 16_384

const WARN_EVERY = 60_000

/**
 * For the option `clientCertificate`: the certificate that a proxy, which has ended the client's
 * TLS, hands on in a header. The proxy must remove this header from what clients send.
 *
 * The header of anybody else does not count, and is logged once a minute. A header that is not well
 * formed, that stands there twice, or that holds several certificates, is none. Of Envoy's elements
 * the last one counts, with its `Cert` in quotes, if no address of a client stands before it.
 *
 * @returns a function that gives the certificate in DER, or null
 * @throws ERR_AUTH_CONFIG_INVALID which names the problems of the options
 */
export function certificateFrom(
  header: CertificateHeader,
  given: CertificateHeaderOptions,
): (request: FastifyRequest) => Buffer | null {
  const problems = new Problems()
  if (typeof header !== 'string' || !Object.hasOwn(READERS, header)) {
    const expected = `one of ${Object.keys(READERS).join(', ')}`
    problems.addValue({ key: 'header', where: 'certificateFrom()' }, expected, header)
  }
  problems.throwIfAny()
  const read = READERS[header]
  const proxies = new Proxies(entryPointOptions('certificateFrom', given, MEMBERS).finish().proxies)
  let warnAt = Number.NEGATIVE_INFINITY

  /** The sender alone: the header may lie. */
  function warn(request: FastifyRequest, sender: Sender): void {
    const now = clock.now()
    if (sender === null || now < warnAt) return
    warnAt = now + WARN_EVERY
    const from = { remoteAddress: sender }
    request.log.warn(from, `tenant auth: the header ${header} does not count from this address`)
  }

  return (request) => {
    const values = valuesOf(request.raw.rawHeaders, header)
    const [value] = values
    if (value === undefined) return null
    const sender = senderOf(request.raw)
    if (!proxies.include(sender)) {
      warn(request, sender)
      return null
    }
    return values.length === 1 && value.length <= LONGEST ? read(value) : null
  }
}

/** The values of all lines: elsewhere Node has joined them. */
function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name)
}
