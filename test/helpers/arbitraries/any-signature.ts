import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { type ForgeKey, signatureOf } from '../tokens/forge.ts'
import { mostly } from './mostly.ts'

type Sign = (key: ForgeKey, input: string) => string

/** How a token is signed: well or badly. */
export function anySignature(keys: readonly ForgeKey[]): fc.Arbitrary<Sign> {
  const genuine: Sign = (key, input) => signatureOf(key, input).toString('base64url')
  const changed =
    (change: (signature: Buffer) => Buffer): Sign =>
    (key, input) =>
      change(signatureOf(key, input)).toString('base64url')
  const hmac =
    (secretOf: (key: ForgeKey) => string): Sign =>
    (key, input) =>
      createHmac('sha256', secretOf(key)).update(input).digest('base64url')
  const bent = fc.oneof(
    fc.nat(63).map((at) =>
      changed((signature) => {
        signature.writeUInt8(signature.readUInt8(at) ^ 1, at)
        return signature
      }),
    ),
    fc.constantFrom<Sign[]>(
      changed((signature) => Buffer.alloc(signature.length)),
      changed((signature) => signature.subarray(1)),
      changed((signature) => Buffer.concat([signature, signature])),
      changed((signature) => Buffer.concat([Buffer.alloc(1), signature])),
      (key, input) => signatureOf(key, input, 'der').toString('base64url'),
      (key, input) => genuine(keys[0] ?? key, input),
      (key, input) => genuine(key, `${input} `),
      hmac((key) => key.publicKey.export({ type: 'spki', format: 'pem' }).toString()),
      hmac((key) => JSON.stringify(key.publicJwk)),
      hmac(() => ''),
      () => '',
      () => 'AA',
    ),
  )
  return mostly([genuine], bent, 8)
}
