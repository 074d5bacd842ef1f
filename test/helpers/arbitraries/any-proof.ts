import fc from 'fast-check'
import { mostly } from './mostly.ts'

/** A request with a proof, good or bent in some of its parts. */
export interface AnyProof {
  /** Which of the holders sends it. */
  readonly holder: number
  /** The key of the proof's header: the holder's, or another. */
  readonly ofHolder: boolean
  /** Members over those of the key in the header. */
  readonly jwk: Record<string, unknown>
  /** Whether the key of the header has signed. */
  readonly isSigned: boolean
  readonly header: Record<string, unknown>
  readonly claims: Record<string, unknown>
  /** Whether the proof is of the token that is sent. */
  readonly ofToken: boolean
  readonly scheme: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** A change of the text of the proof. */
  readonly bend: Bend
  /** Further members of `cnf`. */
  readonly more: Record<string, unknown>
}

export type Bend = 'none' | 'letter' | 'cut' | 'twice' | 'padded'

/** What the parts of a proof are bent to. Undefined: the member is left out. */
const anyValue = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, '', 0, 1, true, false, [], {}, 'x', 'GET', 'dpop+jwt'),
  fc.jsonValue(),
)

/** Letters of a path, and what they may be written as. */
const SPELLINGS = [
  'a',
  'A',
  '%41',
  '%61',
  '~',
  '%7E',
  '%7e',
  '%2F',
  '%2f',
  '.',
  '-',
  '%2D',
  '%20',
  ',',
]

const anySegment = fc
  .array(fc.constantFrom(...SPELLINGS), { minLength: 1, maxLength: 3 })
  .map((letters) => letters.join(''))

const anyPath = fc
  .array(anySegment, { minLength: 1, maxLength: 3 })
  .map((segments) => `/${segments.join('/')}`)

const HTU_BENDS: readonly ((htu: string) => string)[] = [
  (htu) => htu.toUpperCase(),
  (htu) => htu.replace('https://api.test', 'HTTPS://API.TEST:443'),
  (htu) => `${htu}?a=b`,
  (htu) => `${htu}#a`,
  (htu) => `${htu}/`,
  (htu) => htu.replace('https', 'http'),
  (htu) => htu.replace('https://', 'https://user@'),
  (htu) => htu.replace('.test/', '.test//'),
  (htu) => htu.replace('.test/', '.test/x/../'),
  (htu) => htu.replace('.test/', '.test/./'),
  (htu) => htu.replace('.test/', '.test\\'),
  (htu) => htu.replace('https://', 'https:'),
  (htu) => ` ${htu}\n`,
  (htu) => htu.replaceAll('%', '%25'),
  (htu) => htu.replaceAll(/%[0-9a-f]{2}/gi, (escaped) => decodeURIComponent(escaped)),
  (htu) => htu.replaceAll(/%[0-9a-f]{2}/gi, (escaped) => escaped.toLowerCase()),
  (htu) => htu.replaceAll(/%[0-9a-f]{2}/gi, (escaped) => escaped.toUpperCase()),
  (htu) => htu.replaceAll('a', '%61'),
  (htu) => htu.replace('api.test', 'api.test.'),
  (htu) => htu.replace('api.test', 'ａpi.test'),
]

const bentHtu = fc.constantFrom(...HTU_BENDS)

/** Whichever members are bent, most of the proof is good. */
export function anyProof(now: number): fc.Arbitrary<AnyProof> {
  const headerBends = fc.dictionary(
    fc.constantFrom('typ', 'alg', 'jwk', 'crit', 'b64', 'kid', 'x5c', 'jku', 'more'),
    anyValue,
    { minKeys: 1, maxKeys: 1 },
  )
  const claimBends = fc.dictionary(
    fc.constantFrom('jti', 'htm', 'htu', 'iat', 'ath', 'nonce', 'exp', 'nbf', 'iss', 'more'),
    anyValue,
    { minKeys: 1, maxKeys: 1 },
  )
  const keyBends = fc.dictionary(
    fc.constantFrom(
      'kty',
      'crv',
      'x',
      'y',
      'n',
      'e',
      'd',
      'p',
      'k',
      'use',
      'alg',
      'key_ops',
      'kid',
    ),
    fc.oneof(anyValue, fc.constantFrom('sig', 'enc', 'ES256', 'PS256', ['verify'], ['sign'])),
    { minKeys: 1, maxKeys: 2 },
  )
  const times = fc.integer({ min: -400, max: 400 }).map((seconds) => ({ iat: now + seconds }))
  return fc
    .record({
      holder: fc.nat(),
      jwk: mostly<Record<string, unknown>>([{}], keyBends, 5),
      ofHolder: mostly([true], fc.constant(false)),
      isSigned: mostly([true], fc.constant(false)),
      header: mostly<Record<string, unknown>>([{}], headerBends, 6),
      claims: mostly<Record<string, unknown>>([{}], fc.oneof(claimBends, times), 3),
      ofToken: mostly([true], fc.constant(false)),
      scheme: mostly(['DPoP', 'dpop'], fc.constantFrom('Bearer', 'DPOP', 'Basic')),
      method: fc.constantFrom('GET' as const, 'POST' as const),
      path: anyPath,
      bendHtu: mostly<(htu: string) => string>([(htu) => htu], bentHtu, 2),
      bend: mostly<Bend>(['none'], fc.constantFrom('letter', 'cut', 'twice', 'padded')),
      more: mostly<Record<string, unknown>>([{}], fc.constant({ kid: 'x' })),
    })
    .map(({ bendHtu, ...proof }) => {
      const htu = bendHtu(`https://api.test${proof.path}`)
      return { ...proof, claims: { htm: proof.method, htu, ...proof.claims } }
    })
}
