import fc from 'fast-check'
import type { ForgeKey } from '../tokens/forge.ts'
import { anyJson, anyText, objectText } from './arbitrary-claims.ts'
import { mostly } from './mostly.ts'

export type HeaderOf = (key: ForgeKey) => string | Buffer

/** The header of a token, good or bent. */
export function anyHeader(strangers: readonly ForgeKey[]): fc.Arbitrary<HeaderOf> {
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
