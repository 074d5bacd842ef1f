import { dirname, resolve } from 'node:path'
import { Kind, type TProperties, type TSchema } from '@sinclair/typebox'
import { wrongImplied } from '../identity/authorization/implied-ids.ts'
import { isTenantName } from '../identity/tenants/tenant-name.ts'
import { type IniEntry, readIniFile } from './ini-file.ts'
import {
  IMPLIES,
  type IssuerSection,
  isOptionSection,
  readItems,
  readValue,
  UnreadableValue,
} from './ini-line.ts'
import type { IssuerReader, OptionsReader } from './issuer-config.ts'
import { type IssuerMember, Rules } from './issuer-schema.ts'
import { type NameOf, namesOf, OptionReader } from './option-reader.ts'
import { type OptionName, Options } from './options.ts'
import type { Problems } from './problems.ts'
import { showValue } from './redact.ts'

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
  'checks',
  'proofSeen',
  'clientCertificate',
] satisfies OptionName[]

const OWN_SECTION: readonly string[] = ['tenants', 'implies'] satisfies OptionName[]

/** The key in `[tenants]` that stands beside `ids`. */
const SUSPENDED = 'suspended'

/** Options by their keys: in `[auth]` the snake_case of the name, in `[tenants]` one of its own. */
export const INI_KEYS: Readonly<Record<'auth' | 'tenants', ReadonlyMap<string, OptionName>>> = {
  auth: new Map(
    namesOf(Options.properties)
      .filter((name) => !OWN_SECTION.includes(name) && !CODE_ONLY.includes(name))
      .map((name) => [snakeCase(name), name]),
  ),
  tenants: new Map([
    ['ids', 'tenants'],
    ['tenant_url', 'tenants'],
    [SUSPENDED, 'tenants'],
  ]),
}

const NO_KEYS: readonly string[] = [
  'name',
  'publicKeys',
  'mapClaims',
  'resourcesOf',
] satisfies IssuerMember[]

/** Members of an issuer's rules by their keys in `[auth.NAME]`. */
export const ISSUER_KEYS: ReadonlyMap<string, IssuerMember> = new Map(
  namesOf(Rules.properties)
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
  const issuers = new Map<string, IssuerReader>()
  const implied: IniEntry[] = []
  let suspended: IniEntry | undefined
  let isListed = false
  for (const line of readIniFile(file, problems)) {
    const { section, where } = line
    if (line.kind === 'entry' && section === 'tenants' && line.key === SUSPENDED) {
      suspended = line
    } else if (isOptionSection(section)) {
      if (line.kind !== 'entry') continue
      takeEntry(line, INI_KEYS[section], options, file, problems)
      isListed ||= section === 'tenants' && line.key === 'ids'
    } else if (section === IMPLIES) {
      if (line.kind === 'entry') implied.push(line)
    } else {
      const issuer = issuers.get(section) ?? issuerOf(section, where, problems)
      issuers.set(section, issuer)
      if (line.kind === 'entry') takeEntry(line, ISSUER_KEYS, issuer, file, problems)
    }
  }
  takeImplied(implied, options)
  if (suspended !== undefined) takeSuspended(suspended, isListed, options)
  const all = [...issuers.values()]
  const [first] = all
  const value = all.map(({ right }) => right)
  if (first) options.take('issuers', { value, source: first.sourceOf('name') })
  return all
}

/** @param isListed whether `ids` stands beside it, right or wrong */
function takeSuspended({ text, where }: IniEntry, isListed: boolean, options: OptionsReader): void {
  const source = { key: SUSPENDED, where }
  if (!isListed) {
    const value = new UnreadableValue('ids beside it, which lists the tenants', 'none')
    options.take('tenants', { value, source })
    return
  }
  const suspended = readSuspended(text)
  const { tenants: ids } = options.right
  const isWrong = suspended instanceof UnreadableValue
  const value = isWrong ? suspended : { ids, suspended }
  // A wrong list of ids is reported already.
  if (isWrong || Array.isArray(ids)) options.take('tenants', { value, source })
}

/** A key that names nothing is a slip. A list that code fills may be empty. */
function readSuspended(text: string): string[] | UnreadableValue {
  const items = readItems(text)
  if (items instanceof UnreadableValue) return items
  if (items.length > 0 && items.every(isTenantName)) return items
  return new UnreadableValue('a list of tenant names', showValue(writtenText(text)))
}

/** The option `implies`: each key is a resource id, and each value a list. */
function takeImplied(entries: readonly IniEntry[], options: OptionsReader): void {
  const [first] = entries
  if (first === undefined) return
  const lists: [id: string, items: readonly string[]][] = []
  for (const { key, text, where } of entries) {
    const value = readImplied(key, text)
    if (value instanceof UnreadableValue) options.take('implies', { value, source: { key, where } })
    else lists.push([key, value])
  }
  if (lists.length < entries.length) return
  const source = { key: `[${IMPLIES}]`, where: first.where }
  options.take('implies', { value: Object.fromEntries(lists), source })
}

/** Code may give the option too. Then that of the file is not read again. */
function readImplied(id: string, text: string): string[] | UnreadableValue {
  const items = readItems(text)
  if (items instanceof UnreadableValue || wrongImplied({ [id]: items }).length === 0) return items
  return new UnreadableValue('a resource id without *, and a list of such ids', showValue(items))
}

function issuerOf(section: IssuerSection, where: string, problems: Problems): IssuerReader {
  const placeOf = (member: string) => ({ key: `[${section}] ${snakeCase(member)}`, where })
  const issuer = new OptionReader(Rules.properties, placeOf, problems)
  const source = { key: `[${section}]`, where }
  issuer.take('name', { value: section.slice('auth.'.length), source })
  return issuer
}

/** The section in which a key that means nothing here is an option; undefined: there is none. */
function rightSection({ key, section }: IniEntry): string | undefined {
  if (key === 'issuers') {
    // In the section of an issuer it is a slip of `issuer`.
    return isOptionSection(section) ? 'a section [auth.NAME] for each issuer' : undefined
  }
  if (key === 'tenants') return 'ids or tenant_url in [tenants]'
  if (key === IMPLIES) return `a section [${IMPLIES}]`
  if (INI_KEYS.tenants.has(key)) return 'it in [tenants]'
  if (INI_KEYS.auth.has(key)) return 'it in [auth]'
  return CODE_ONLY.some((name) => snakeCase(name) === key) ? 'it in code' : undefined
}

function takeEntry<Members extends TProperties>(
  entry: IniEntry,
  keys: ReadonlyMap<string, NameOf<Members>>,
  reader: OptionReader<Members>,
  file: string,
  problems: Problems,
): void {
  const { key, text, where } = entry
  const source = { key, where }
  const name = keys.get(key)
  if (name === undefined) {
    const place = rightSection(entry)
    if (place === undefined) problems.addUnknown(key, source, [...keys.keys()])
    else problems.add(source, place, `"${key}"`)
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
function readIniText(schema: TSchema, text: string): unknown {
  const kinds: readonly TSchema[] = schema[Kind] === 'Union' ? schema['anyOf'] : [schema]
  if (kinds.some((kind) => kind[Kind] === 'Array')) return readList(kinds, text)
  const value = readValue(text)
  if (value instanceof UnreadableValue) return value
  if (schema[Kind] === 'Boolean') return BOOLEANS.get(value.toLowerCase()) ?? value
  if (schema[Kind] !== 'Number' && schema[Kind] !== 'Integer') return value
  // A text would be refused with a cure for code.
  return /^\d+(?:\.\d+)?$/.test(value)
    ? Number(value)
    : new UnreadableValue(String(schema['expected']), showValue(value))
}

/** A word that stands for a list, such as `*`, stays as it is. */
function readList(kinds: readonly TSchema[], text: string): unknown {
  const items = readItems(text)
  if (items instanceof UnreadableValue || items.length !== 1) return items
  const isWord = kinds.some((kind) => kind[Kind] === 'Literal' && kind['const'] === items[0])
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
