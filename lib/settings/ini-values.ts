import { TypeGuard } from '@sinclair/typebox'
import { type OptionName, Options } from './options.ts'

const CODE_ONLY: readonly string[] = [
  'publicKeys',
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
 * The value that a key's text stands for; the text itself where it stands for none, to be refused
 * as such.
 */
export function readIniText(key: string, name: OptionName, text: string): unknown {
  const schema = Options.properties[name]
  if (TypeGuard.IsBoolean(schema)) return BOOLEANS.get(text.toLowerCase()) ?? text
  if (TypeGuard.IsNumber(schema) || TypeGuard.IsInteger(schema)) {
    return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
  }
  const isList =
    TypeGuard.IsArray(schema) ||
    (TypeGuard.IsUnion(schema) && schema.anyOf.some((type) => TypeGuard.IsArray(type)))
  if (!isList || key === 'tenant_url') return text
  return text.split(/[\s,]+/).filter((item) => item !== '')
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
