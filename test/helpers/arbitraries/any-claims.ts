import fc from 'fast-check'
import { AUDIENCE, ISSUER } from '../tokens/probe.ts'
import { anyJson, anyText, objectText } from './arbitrary-claims.ts'
import { mostly } from './mostly.ts'

/** A member of a JSON object as text; null: no member. */
type Member = readonly [name: string, json: string] | null

/** The claims of a token, good or bent, around a time `now` in seconds. */
export function anyClaims(now: number): fc.Arbitrary<string | Buffer> {
  const claim = (
    name: string,
    good: readonly string[],
    bent: readonly string[],
  ): fc.Arbitrary<Member> =>
    mostly<string | null>(
      good,
      fc.oneof(fc.constantFrom<(string | null)[]>(...bent, null), anyJson),
    ).map((json) => (json === null ? null : [name, json]))
  /** Times around those that decide. The clock stands still. */
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
