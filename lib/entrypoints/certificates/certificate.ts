import { X509Certificate } from 'node:crypto'

const PEM =
  /^-----BEGIN CERTIFICATE-----\r?\n((?:[A-Za-z0-9+/=]+\r?\n)+)-----END CERTIFICATE-----(?:\r?\n)?$/

/** The certificate of a Byte Sequence (RFC 9440 §2.2, RFC 9651 §3.3.5), without parameters. */
export function readByteSequence(value: string): Buffer | null {
  return certificateOf(/^:([^:]*):$/.exec(value)?.[1] ?? '')
}

/** The certificate of a PEM text (RFC 7468 §5) that is escaped as in URLs; one certificate only. */
export function readEscapedPem(value: string): Buffer | null {
  const lines = PEM.exec(unescaped(value))?.[1] ?? ''
  return certificateOf(lines.replace(/\r?\n/g, ''))
}

function unescaped(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return ''
  }
}

/**
 * The DER of one certificate, or null.
 *
 * @param text in base64 (RFC 4648 §4) with its padding, and nothing else
 */
function certificateOf(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.toString('base64') !== text) return null
  try {
    // Bytes that follow a certificate, or are not DER, are not in its own bytes.
    const { raw } = new X509Certificate(bytes)
    return raw.equals(bytes) ? raw : null
  } catch {
    return null
  }
}

// Outside: Envoy's `x-forwarded-client-cert`. Names of certificates stand in it, which their owner
// may have chosen.

/**
 * One pair, and what ends it. In quotes, a backslash takes the next character as it is. Envoy puts
 * no quotes around addresses (`By`, `URI`, `DNS`), so that `=` may stand in them.
 */
const PAIR = /[ \t]*([\w-]+)=(?:"((?:[^"\\]|\\.)*)"|[^",;\s]*)[ \t]*([,;]|$)/y

interface Pair {
  readonly key: string
  /** Undefined: the value stands without quotes. */
  readonly quoted: string | undefined
}

/** Addresses in the client's certificate, which its owner may have chosen. */
const OF_CLIENT = /^(?:uri|dns)$/i

/**
 * The certificate of the last element, which the next proxy has added; earlier ones are of proxies
 * before it. Only `Cert` in quotes counts, as Envoy writes it. Envoy writes the addresses of the
 * client's certificate last and without quotes, so whatever follows one may be a part of it: then
 * the header is of no use.
 */
export function readForwardedCert(value: string): Buffer | null {
  const certs = lastElement(value).filter(({ key }) => key.toLowerCase() === 'cert')
  const [cert] = certs
  return cert?.quoted === undefined || certs.length > 1 ? null : readEscapedPem(cert.quoted)
}

/** The pairs of the last element; none if anything before it is not well formed. */
function lastElement(value: string): Pair[] {
  let pairs: Pair[] = []
  let isOfClient = false
  for (let at = 0; ; ) {
    PAIR.lastIndex = at
    const found = PAIR.exec(value)
    if (found === null) return []
    const [{ length }, key = '', text, end] = found
    if (isOfClient && !OF_CLIENT.test(key)) return []
    isOfClient ||= OF_CLIENT.test(key)
    pairs.push({ key, quoted: text?.replace(/\\(.)/g, '$1') })
    if (end === '') return pairs
    if (end === ',' && isOfClient) return []
    if (end === ',') pairs = []
    at += length
  }
}
