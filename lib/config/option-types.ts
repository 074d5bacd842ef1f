import * as Type from '@sinclair/typebox'
import { Kind, type Static, type TSchema } from '@sinclair/typebox'
import { supportedAlgorithms } from '../identity/jwks/algorithms.ts'
import type { UserInfo } from '../identity/jwt/user-info.ts'
import { isTenantName } from '../identity/tenants/tenant-name.ts'
import { isSecureUrl } from '../platform/http/urls.ts'
import { isPlainObject, ownProperty } from '../platform/runtime/own-property.ts'
import { SECRET_CURE } from './did-you-mean.ts'
import { showName, showValue } from './redact.ts'
import { JUDGED, wrongPlace } from './schema-check.ts'

/** The rule for the address of an API, in the words of a boot error. */
const ADDRESS_EXPECTED =
  'an https URL (http on loopback) as URL parsers spell it, without credentials, query, fragment, % and *, and without a slash at its end'

/**
 * Whether a value can be a protected resource's identifier (RFC 9728 §1.2). Clients compare it to
 * the letter, so it has the spelling that URL parsers give it. A router may not find paths with
 * escaped characters or `*`.
 */
function isResourceAddress(value: string): boolean {
  if (!isSecureUrl(value) || /[?#%*]|\/$/.test(value)) return false
  const { href, pathname } = new URL(value)
  return (pathname === '/' ? href.slice(0, -1) : href) === value
}

/** A value that a function checks. `expected` are the words of a boot error. */
export const Custom = <T>(
  expected: string,
  judge: (value: unknown) => value is T,
  options: object = {},
) => Type.Unsafe<T>({ [Kind]: JUDGED, expected, judge, ...options })

/** One that may also be given as `undefined`, which is the same as not given. */
export const Maybe = <T>(
  expected: string,
  judge: (value: unknown) => value is T,
  options: object = {},
) => {
  const isOne = (value: unknown): value is T | undefined => value === undefined || judge(value)
  return Type.Optional(Custom(expected, isOne, options))
}

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** A judge of values that are one of these words. */
export const isWordOf =
  <const Word extends string>(words: readonly Word[]) =>
  (value: unknown): value is Word =>
    words.some((word) => word === value)

export const TextThat = (
  expected: string,
  judge: (text: string) => boolean,
  options: object = {},
) => {
  const isOne = (value: unknown): value is string => typeof value === 'string' && judge(value)
  return Custom(expected, isOne, options)
}

export const ResourceAddress = TextThat(ADDRESS_EXPECTED, isResourceAddress)

/** Above this a timer would fire at once. */
export const LONGEST_SECONDS = 2_147_483

export const Seconds = (fallback: number, least = 0, most = LONGEST_SECONDS) =>
  Type.Number({
    default: fallback,
    minimum: least,
    maximum: most,
    expected: `seconds from ${least} to ${most}`,
  })

export const Size = (fallback: number, least = 0, most?: number) =>
  Type.Integer({
    default: fallback,
    minimum: least,
    maximum: most ?? Number.MAX_SAFE_INTEGER,
    expected: `a whole number from ${least}${most === undefined ? '' : ` to ${most}`}`,
  })

export const OneOf = <const Word extends string>(words: readonly Word[], fallback: Word) =>
  Type.Unsafe<Word>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      {
        default: fallback,
        expected: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`,
      },
    ),
  )

/** A list of at least one of these words. */
export const ListOf = <const Word extends string>(words: readonly Word[], options: object = {}) =>
  Type.Unsafe<readonly Word[]>(
    Type.Array(Type.Union(words.map((word) => Type.Literal(word))), {
      minItems: 1,
      expected: `a list of ${words.join(', ')}`,
      ...options,
    }),
  )

export const Switch = (fallback: boolean, expected = 'a boolean (in the INI file yes or no)') =>
  Type.Boolean({ default: fallback, expected })

/** A switch that only code can give. */
export const CodeSwitch = (fallback: boolean) => Switch(fallback, 'a boolean')

export const Text = (expected: string, options: object = {}) =>
  Type.String({ minLength: 1, expected, ...options })

export const List = <T extends TSchema>(item: T) =>
  Type.Unsafe<readonly Static<T>[]>(Type.Array(item, { minItems: 1 }))

export const Callable = <T>(options: object = {}) =>
  Type.Unsafe<T>(Type.Function([], Type.Unknown(), { expected: 'a function', ...options }))

/** Keywords of a text that may be read from a file of its own, as a secret of Docker is. */
export const NO_LINE_BREAK = { pattern: '[^\\r\\n]$', hint: hintForLineBreak }

function hintForLineBreak(value: unknown): string | undefined {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value]
  const isCut = texts.some((text) => typeof text === 'string' && /[\r\n]$/.test(text))
  return isCut ? 'it ends with a line break, as files do; trim() takes that away' : undefined
}

const Name = Type.String({ minLength: 1, pattern: NO_LINE_BREAK.pattern })

export const Names = Type.Union([Name, List(Name)], {
  expected: 'a string or a list of strings',
  hint: hintForLineBreak,
})

export const KeysUrl = (options: object = {}) =>
  TextThat('an http or https URL without credentials', isHttpUrl, options)

export const PublicKeys = Type.Unsafe<{ readonly keys: readonly object[] }>(
  Type.Object(
    { keys: Type.Array(Type.Unknown()) },
    {
      expected: 'a JWK set with at least one public key that may verify',
      isSecret: true,
      hint: hintForText,
    },
  ),
)

/** The cure of a shared secret that stands in the place of the function that knows it. */
export function hintForSecretText(value: unknown): string | undefined {
  return typeof value === 'string' ? SECRET_CURE : undefined
}

function hintForText(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  if (value.startsWith('-----BEGIN')) {
    return 'a key in PEM becomes a member of keys by createPublicKey(pem).export({ format: "jwk" }), of node:crypto'
  }
  return isHttpUrl(value) ? 'did you mean publicKeysUrl?' : SECRET_CURE
}

export const Algorithms = (options: object = {}) =>
  ListOf(supportedAlgorithms, { hint: hintForSecrets, ...options })

/** Their secret would have to stand where public keys do. */
function hintForSecrets(value: unknown): string | undefined {
  const names: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (!names.some((name) => /^HS(?:256|384|512)$/.test(String(name)))) return undefined
  return SECRET_CURE
}

export const TokenTypes = Type.Unsafe<readonly string[]>(
  Type.Array(Type.String({ pattern: '^[!-~]+$' }), {
    minItems: 1,
    expected: 'a list of token types such as at+jwt',
  }),
)

export const TenantName = TextThat('', isTenantName)

const tenantLists = (ids: TSchema, suspended: TSchema) =>
  Type.Object({ ids, suspended }, { additionalProperties: false })

/** Either list may be empty, but not both: an application may fill them from its database. */
export const TenantLists = Type.Unsafe<{
  readonly ids: readonly string[]
  readonly suspended: readonly string[]
}>(
  Type.Union([
    tenantLists(List(TenantName), Type.Array(TenantName)),
    tenantLists(Type.Array(TenantName), List(TenantName)),
  ]),
)

/** The member of `{ ids, suspended }` that cannot be used, and what was found there. */
export function wrongTenants(value: unknown): string | undefined {
  if (!isPlainObject(value)) return undefined
  const place = wrongPlace(tenantLists(Type.Array(TenantName), Type.Array(TenantName)), value)
  if (place === undefined) return 'both lists are empty'
  const [, name = ''] = place.split('/')
  return `${showName(name)} is ${showValue(ownProperty(value, name))}`
}

/** An application's own type of user need not have an index signature. */
export const MapClaims =
  Callable<
    (
      claims: Record<string, unknown>,
    ) => UserInfo | Pick<UserInfo, 'sub' | 'preferred_username' | 'resources'>
  >()

export function isHttpUrl(value: string): boolean {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return false
  const { username, password } = new URL(value)
  return username === '' && password === ''
}
