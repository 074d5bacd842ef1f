import { generateKeyPairSync, sign } from 'node:crypto'

/** A value in DER (X.690 §8.1): its tag, the length of its content, and the content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const sizes =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length]
  return Buffer.concat([Buffer.from([tag, ...sizes]), content])
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts)
const set = (...parts: readonly Uint8Array[]) => der(0x31, ...parts)
const integer = (value: number) => der(0x02, Buffer.of(value))
const text = (value: string) => der(0x0c, Buffer.from(value))
const time = (value: string) => der(0x18, Buffer.from(value))
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'))
const RSA_WITH_SHA256 = sequence(oid('2a864886f70d01010b'), der(0x05))
const COMMON_NAME = oid('550403')
const SUBJECT_ALT_NAME = oid('551d11')

/** A certificate that vouches for itself and for one host name, and its key, both in PEM. */
export function selfSigned(
  host: string,
  kind: 'ec' | 'rsa' = 'ec',
): { readonly cert: string; readonly key: string } {
  const { publicKey, privateKey } =
    kind === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  const algorithm = kind === 'ec' ? ECDSA_WITH_SHA256 : RSA_WITH_SHA256
  const name = sequence(set(sequence(COMMON_NAME, text(host))))
  const altNames = der(0x04, sequence(der(0x82, Buffer.from(host))))
  const content = sequence(
    der(0xa0, integer(2)),
    integer(1),
    algorithm,
    name,
    sequence(time('20200101000000Z'), time('20991231235959Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(SUBJECT_ALT_NAME, altNames))),
  )
  const signature = der(0x03, Buffer.of(0), sign('sha256', content, privateKey))
  const certificate = sequence(content, algorithm, signature).toString('base64')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
