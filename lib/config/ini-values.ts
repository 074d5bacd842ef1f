import { dirname, resolve } from 'node:path'
import { type TProperties, type TSchema, TypeGuard } from '@sinclair/typebox'
import { type IniEntry, readIniFile } from './ini-file.ts'
import {
  type IssuerSection,
  isOptionSection,
  readItems,
  readValue,
  UnreadableValue,
} from './ini-line.ts'
import type { IssuerReader, OptionsReader } from './issuer-config.ts'
import { type IssuerMember, issuerMembers, Rules } from './issuer-schema.ts'
import { OptionReader } from './option-reader.ts'
import type { NameOf } from './option-types.ts'
import { type OptionName, optionNames } from './options.ts'
import type { Problems } from './problems.ts'

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

/** Options by their keys: in `[auth]` the snake_case of the name, in `[tenants]` one of two. */
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

/** Members of an issuer's rules by their keys in `[auth.NAME]`. */
export const ISSUER_KEYS: ReadonlyMap<string, IssuerMember> = new Map(
  issuerMembers()
    .filter((member) => !NO_KEYS.includes(member))
    .map((member) => [snakeCase(member), member]),
)

/**
 * Reads the options of an INI file. Its sections `[auth.NAME]` are the option `issuers`.
 *
 * @returns the readers of these sections
 */
export function readIniOptions(
  file: string,
  options: OptionsReader,
  problems: Problems,
): readonly IssuerReader[] {
  const issuers: IssuerReader[] = []
  for (const line of readIniFile(file, problems)) {
    const { section, where } = line
    const issuer = issuers.at(-1)
    if (isOptionSection(section)) {
      if (line.kind === 'entry') takeEntry(line, INI_KEYS[section], options, file, problems)
    } else if (line.kind === 'section') {
      issuers.push(issuerOf(section, where, problems))
    } else if (issuer) {
      takeEntry(line, ISSUER_KEYS, issuer, file, problems)
    }
  }
  const [first] = issuers
  const value = issuers.map(({ right }) => right)
  if (first) options.take('issuers', { value, source: first.sourceOf('name') })
  return issuers
}

function issuerOf(section: IssuerSection, where: string, problems: Problems): IssuerReader {
  const placeOf = (member: string) => ({ key: `[${section}] ${snakeCase(member)}`, where })
  const issuer = new OptionReader(Rules.properties, placeOf, problems)
  const source = { key: `[${section}]`, where }
  issuer.take('name', { value: section.slice('auth.'.length), source })
  return issuer
}

function takeEntry<Members extends TProperties>(
  { key, text, where }: IniEntry,
  keys: ReadonlyMap<string, NameOf<Members>>,
  reader: OptionReader<Members>,
  file: string,
  problems: Problems,
): void {
  const source = { key, where }
  const name = keys.get(key)
  if (name === undefined) {
    problems.addUnknown(key, source, [...keys.keys()], { value: text })
    return
  }
  if (reader.has(name)) problems.add(source, `${reader.sourceOf(name).key} or ${key}`, 'both')
  const value = key === 'tenant_url' ? readValue(text) : readIniText(reader.schemaOf(name), text)
  const isPath = key === 'dev_user_info_path' && typeof value === 'string' && value !== ''
  const found = isPath ? resolve(dirname(file), value) : value
  reader.take(name, { value: found, written: writtenText(text), source })
}

const BOOLEANS = new Map([
  ...['yes', 'true', 'on', '1'].map((word) => [word, true] as const),
  ...['no', 'false', 'off', '0'].map((word) => [word, false] as const),
])

/**
 * The value of a key's text by a schema. A text that is no such value is returned, and will be
 * refused.
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

/** The text of a key as a message shows it. If it is one value, its comment is left out. */
function writtenText(text: string): string {
  const value = readValue(text)
  return typeof value === 'string' ? value : text
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
