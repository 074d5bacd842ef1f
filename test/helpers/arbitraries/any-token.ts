import fc from 'fast-check'
import { encode, type ForgeKey, partsOf } from '../tokens/forge.ts'
import { anyClaims } from './any-claims.ts'
import { anyHeader } from './any-header.ts'
import { anySignature } from './any-signature.ts'
import { mostly } from './mostly.ts'

/** A good token, or one that is bent in header, claims, signature or spelling. */
export function anyToken(keys: readonly ForgeKey[], now: number): fc.Arbitrary<string> {
  const strangers = keys.map((key) => ({ ...key, kid: 'nobody' }))
  return fc
    .tuple(
      fc.constantFrom(...keys),
      anyHeader(strangers),
      anyClaims(now),
      anySignature(keys),
      anySpelling,
    )
    .map(([key, header, payload, sign, spell]) => {
      const input = `${encode(header(key))}.${encode(payload)}`
      return spell(`${input}.${sign(key, input)}`)
    })
}

const anySpelling: fc.Arbitrary<(token: string) => string> = mostly(
  [(token: string) => token],
  fc.oneof(
    fc.constantFrom<((token: string) => string)[]>(
      (token) => `${token}=`,
      (token) => `${token}==`,
      (token) => `${token} `,
      (token) => `${token}\n`,
      (token) => `${token}.`,
      (token) => `.${token}`,
      (token) => `${token}.AAAA.AAAA`,
      (token) => token.replaceAll('-', '+').replaceAll('_', '/'),
      (token) => token.replace('.', '=.'),
      (token) => token.replace('.', '..'),
      (token) => token.replace('.', ' .'),
      (token) => token.toLowerCase(),
      (token) => partsOf(token).slice(0, 2).join('.'),
      withPadBit,
    ),
    // Not before the first letter, because spaces there belong to the header.
    fc.integer({ min: 1, max: 600 }).map(spaced),
    fc.nat(600).map((at) => (token: string) => token.slice(0, at)),
  ),
  12,
)

function spaced(at: number): (token: string) => string {
  return (token) => `${token.slice(0, at)} ${token.slice(at)}`
}

/** A lenient reader gets the same bytes: another last letter with unused bits set. */
function withPadBit(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return token.slice(0, -1) + (alphabet[alphabet.indexOf(token.slice(-1)) + 1] ?? 'A')
}
