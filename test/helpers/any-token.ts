import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { anyJson, anyText, objectText } from './arbitrary-claims.ts'
import { encode, type ForgeKey, partsOf, signatureOf } from './forge.ts'
import { AUDIENCE, ISSUER } from './probe.ts'

/** Mostly what is good, and now and then what is bent: a whole token has many chances to be bent. */
function mostly<T>(good: readonly T[], bent: fc.Arbitrary<T>, weight = 24): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: bent })
}

/** A member of a JSON object as text, or none. */
type Member = readonly [name: string, json: string] | null

/** A good token, or one bent in header, claims, signature or spelling; nobody knows beforehand which. */
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

type HeaderOf = (key: ForgeKey) => string | Buffer

function anyHeader(strangers: readonly ForgeKey[]): fc.Arbitrary<HeaderOf> {
  const jwk = JSON.stringify(strangers[0]?.publicJwk)
  const further = fc.constantFrom<readonly [string, string]>(
    ...['none', 'None', 'HS256', 'RS512', 'PS256', 'ES384', 'Ed25519', 'EdDSA'].map(
      (alg) => ['alg', JSON.stringify(alg)] as const,
    ),
    ...['null', '1', '""', '"nobody"', '["rsa"]', '"__proto__"', '"rsa\\u0000"'].map(
      (kid) => ['kid', kid] as const,
    ),
    ...['"JWT"', '"AT+JWT"', '"application/at+jwt"', '"logout+jwt"', 'null', '1', '""'].map(
      (typ) => ['typ', typ] as const,
    ),
    ...['["exp"]', '["b64"]', '[]', 'null', '"exp"', '{}'].map((crit) => ['crit', crit] as const),
    ['b64', 'false'],
    ['b64', 'true'],
    ['jwk', jwk],
    ['jku', '"http://127.0.0.1:1/keys"'],
    ['x5c', '["AAAA"]'],
    ['cty', '"JWT"'],
    ['zip', '"DEF"'],
    ['enc', '"A128GCM"'],
    ['__proto__', '{"alg":"none"}'],
  )
  const bent: fc.Arbitrary<HeaderOf> = fc.oneof(
    further.map((member) => (key: ForgeKey) => objectText([...headerOf(key), member])),
    fc
      .tuple(anyText, anyJson)
      .map((member) => (key: ForgeKey) => objectText([...headerOf(key), member])),
    fc
      .constantFrom('alg', 'kid', 'typ')
      .map((name) => (key: ForgeKey) => objectText(headerOf(key).filter(([own]) => own !== name))),
    fc.constantFrom('null', '[]', '""', '', '{').map((text) => () => text),
    fc.constant((key: ForgeKey) => `{"alg":"none",${objectText(headerOf(key)).slice(1)}`),
    fc.constant((key: ForgeKey) => ` ${objectText(headerOf(key))}\n`),
    fc.constant((key: ForgeKey) => Buffer.from(`\ufeff${objectText(headerOf(key))}`)),
    fc.constant((key: ForgeKey) =>
      Buffer.from(`${objectText(headerOf(key)).slice(0, -1)},"x":"\xff"}`, 'latin1'),
    ),
  )
  return mostly<HeaderOf>([(key) => objectText(headerOf(key))], bent, 3)
}

function headerOf({ alg, kid }: ForgeKey): [string, string][] {
  return Object.entries({ alg, kid, typ: 'at+jwt' }).map(([name, value]) => [
    name,
    JSON.stringify(value),
  ])
}

function anyClaims(now: number): fc.Arbitrary<string | Buffer> {
  const claim = (
    name: string,
    good: readonly string[],
    bent: readonly string[],
  ): fc.Arbitrary<Member> =>
    mostly<string | null>(
      good,
      fc.oneof(fc.constantFrom<(string | null)[]>(...bent, null), anyJson),
    ).map((json) => (json === null ? null : [name, json]))
  /** Times around those that decide: the clock stands still. */
  const times = [
    -3600, -6, -5.001, -5, -4.999, -4, -1, -0.5, 0, 0.5, 1, 4, 4.5, 5, 5.001, 5.5, 6, 3600,
  ]
  const decisive = times.map((offset) => String(now + offset))
  const broken = [
    '1e999',
    '-1e999',
    '"1e12"',
    'null',
    'true',
    '[1e12]',
    '{}',
    '0',
    '-1',
    '1e15',
    '1e300',
  ]
  const absent: fc.Arbitrary<Member> = fc.constant(null)
  const sometimes = (member: fc.Arbitrary<Member>) =>
    fc.oneof({ weight: 12, arbitrary: absent }, { weight: 1, arbitrary: member })
  const members = fc.tuple(
    claim(
      'iss',
      [`"${ISSUER}"`],
      [`"${ISSUER}/"`, `["${ISSUER}"]`, `"${ISSUER.toUpperCase()}"`, '""'],
    ),
    claim(
      'aud',
      [`"${AUDIENCE}"`, `["${AUDIENCE}"]`, `["other","${AUDIENCE}"]`],
      [
        `["${AUDIENCE}",1]`,
        `[["${AUDIENCE}"]]`,
        '[]',
        '"apis"',
        `{"${AUDIENCE}":1}`,
        `"${AUDIENCE} x"`,
      ],
    ),
    claim('exp', [String(now + 300), String(now + 0.5)], [...decisive, ...broken]),
    claim('iat', [String(now), String(now - 100)], [...decisive, ...broken]),
    sometimes(fc.constantFrom(...decisive, ...broken).map((json) => ['nbf', json])),
    claim('sub', ['"alice"', '"\u00e9"'], ['""', '1', '["alice"]']),
    claim(
      'resources',
      ['{"acme":["menu:read"]}', '{}'],
      ['[]', '"acme"', '{"acme":"x"}', '{"acme":[1]}'],
    ),
    sometimes(fc.constantFrom('"x"', '1', 'null', '["x"]').map((json) => ['jti', json])),
    sometimes(fc.constantFrom('"a b"', '["a"]', 'null', '1').map((json) => ['scope', json])),
    sometimes(fc.tuple(anyText, anyJson)),
    sometimes(
      fc
        .constantFrom(3, 60, 64, 66, 500)
        .map((depth) => ['deep', '['.repeat(depth) + ']'.repeat(depth)]),
    ),
  )
  const object = members.map((all) => objectText(all.filter((member) => member !== null)))
  const bent = object.chain((text) =>
    fc.constantFrom<(string | Buffer)[]>(
      `[${text}]`,
      `{"__proto__":${text}}`,
      `{"__proto__":${text},${text.slice(1)}`,
      `${text.slice(0, -1)},"exp":1}`,
      `{"exp":1,${text.slice(1)}`,
      ` ${text} `,
      `${text}x`,
      'null',
      '"alice"',
      Buffer.from(`\ufeff${text}`),
      Buffer.from(text.replace('alice', '\xff'), 'latin1'),
    ),
  )
  return fc.oneof<fc.WeightedArbitrary<string | Buffer>[]>(
    { weight: 15, arbitrary: object },
    { weight: 1, arbitrary: bent },
  )
}

type Sign = (key: ForgeKey, input: string) => string

function anySignature(keys: readonly ForgeKey[]): fc.Arbitrary<Sign> {
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
      (_key, input) => genuine(keys[0] ?? _key, input),
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
    // Not before the first letter: spaces there are the header's own.
    fc.integer({ min: 1, max: 600 }).map(spaced),
    fc.nat(600).map((at) => (token: string) => token.slice(0, at)),
  ),
  12,
)

function spaced(at: number): (token: string) => string {
  return (token) => `${token.slice(0, at)} ${token.slice(at)}`
}

/** The same bytes for a lenient reader: another last letter with unused bits set. */
function withPadBit(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return token.slice(0, -1) + (alphabet[alphabet.indexOf(token.slice(-1)) + 1] ?? 'A')
}
