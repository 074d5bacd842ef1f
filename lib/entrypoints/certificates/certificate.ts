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
