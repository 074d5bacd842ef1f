import { certificateOf } from './certificate.ts'

const PEM =
  /^-----BEGIN CERTIFICATE-----\r?\n((?:[A-Za-z0-9+/=]+\r?\n)+)-----END CERTIFICATE-----(?:\r?\n)?$/

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
