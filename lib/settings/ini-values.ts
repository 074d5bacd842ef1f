import { type TSchema, TypeGuard } from '@sinclair/typebox'
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
 * The value that a text stands for, where one of this schema is meant; the text itself where it
 * stands for none, to be refused as such.
 */
export function readIniText(schema: TSchema, text: string): unknown {
  if (TypeGuard.IsBoolean(schema)) return BOOLEANS.get(text.toLowerCase()) ?? text
  if (TypeGuard.IsNumber(schema) || TypeGuard.IsInteger(schema)) {
    return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
  }
  const kinds = TypeGuard.IsUnion(schema) ? schema.anyOf : [schema]
  const isWord = kinds.some((kind) => TypeGuard.IsLiteral(kind) && kind.const === text)
  if (isWord || !kinds.some((kind) => TypeGuard.IsArray(kind))) return text
  return text.split(/[\s,]+/).filter((item) => item !== '')
}

export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
