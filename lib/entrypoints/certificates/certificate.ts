import { X509Certificate } from 'node:crypto'

/**
 * The DER of one certificate, or null.
 *
 * @param text in base64 (RFC 4648 §4) with its padding, and nothing else
 */
export function certificateOf(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.toString('base64') !== text) return null
  try {
    // What follows a certificate, or is not DER, is not in its own bytes.
    const { raw } = new X509Certificate(bytes)
    return raw.equals(bytes) ? raw : null
  } catch {
    return null
  }
}
