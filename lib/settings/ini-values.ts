import { type TSchema, TypeGuard } from '@sinclair/typebox'
import { readItems, readValue, UnreadableValue } from './ini-line.ts'
import { type IssuerMember, issuerMembers } from './issuer-rules.ts'
import { type OptionName, Options } from './options.ts'

const CODE_ONLY: readonly string[] = [
  'publicKeys',
  'issuers',
  'issuersMax',
  'allowPrivateIssuers',
  'opaqueToken',
  'resourcesOf',
  'mapClaims',
  'isRevoked',
  'resolveTenant',
  'tokenFrom',
] satisfies OptionName[]

/** Which option a key gives: of `[auth]` the snake_case of its name, of `[tenants]` one of two. */
export const INI_KEYS: Readonly<Record<'auth' | 'tenants', ReadonlyMap<string, OptionName>>> = {
  auth: new Map(
    optionNames()
      .filter((name) => name !== 'tenants' && !CODE_ONLY.includes(name))
      .map((name) => [snakeCase(name), name]),
  ),
  tenants: new Map([
    ['ids', 'tenants'],
    ['tenant_url', 'tenants'],
  ]),
}

const NO_KEYS: readonly string[] = ['name', 'publicKeys', 'mapClaims'] satisfies IssuerMember[]

/** Which member of an issuer's rules a key of `[auth.NAME]` gives. */
export const ISSUER_KEYS: ReadonlyMap<string, IssuerMember> = new Map(
  issuerMembers()
    .filter((member) => !NO_KEYS.includes(member))
    .map((member) => [snakeCase(member), member]),
)

/** Names of all options, in the order of the schema. */
export function optionNames(): OptionName[] {
  return Object.keys(Options.properties).filter((name) => isOptionName(name))
}

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(Options.properties, name)
}

const BOOLEANS = new Map([
  ...['yes', 'true', 'on', '1'].map((word) => [word, true] as const),
  ...['no', 'false', 'off', '0'].map((word) => [word, false] as const),
])

/**
 * The value that the text of a key stands for, where one of this schema is meant; the text itself
 * where it stands for none, to be refused as such.
 */
export function readIniText(schema: TSchema, text: string): unknown {
  const kinds = TypeGuard.IsUnion(schema) ? schema.anyOf : [schema]
  if (kinds.some((kind) => TypeGuard.IsArray(kind))) return readList(kinds, text)
  const value = readValue(text)
  if (value instanceof UnreadableValue) return value
  if (TypeGuard.IsBoolean(schema)) return BOOLEANS.get(value.toLowerCase()) ?? value
  const isNumber = TypeGuard.IsNumber(schema) || TypeGuard.IsInteger(schema)
  return isNumber && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value
}

/** A word that stands for a list, such as `*`, stays as it is. */
function readList(kinds: readonly TSchema[], text: string): unknown {
  const items = readItems(text)
  if (items instanceof UnreadableValue || items.length !== 1) return items
  const isWord = kinds.some((kind) => TypeGuard.IsLiteral(kind) && kind.const === items[0])
  return isWord ? items[0] : items
}

/** The text of a key as a message shows it, without a comment where it is one value. */
export function writtenText(text: string): string {
  const value = readValue(text)
  return typeof value === 'string' ? value : text
}

export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
