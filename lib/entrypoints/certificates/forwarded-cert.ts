import { readEscapedPem } from './certificate.ts'

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
