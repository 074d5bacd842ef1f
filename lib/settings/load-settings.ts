import { dirname, resolve } from 'node:path'
import { Value } from '@sinclair/typebox/value'
import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'
import { KeySet } from '../identity/key-set.ts'
import { readIniFile } from './ini-file.ts'
import { INI_KEYS, isOptionName, optionNames, readIniText } from './ini-values.ts'
import { type AuthOptions, type OptionName, Options, type Settings } from './options.ts'

/** Who gave an option: the key and the place that an error message names. */
interface Source {
  readonly key: string
  readonly where: string
}

export interface LoadedSettings {
  readonly settings: Settings
  /** The options that somebody gave; all others have their defaults. */
  readonly given: ReadonlySet<OptionName>
}

/**
 * The settings of an INI file, of code, and of the defaults, in the order of who wins last to first.
 *
 * @throws ERR_AUTH_CONFIG_INVALID
 */
export function loadSettings(options: AuthOptions): LoadedSettings {
  const { configFile, ...inCode } = options
  const values = new Map<OptionName, unknown>()
  const sources = new Map<OptionName, Source>()
  const give = (name: OptionName, value: unknown, source: Source): void => {
    check(name, value, source)
    values.set(name, value)
    sources.set(name, source)
  }
  if (configFile !== undefined) readFile(configFile, give)
  readCode(inCode, give)
  const settings = withDefaults(values)
  checkTogether(settings, sources)
  return { settings, given: new Set(values.keys()) }
}

type Give = (name: OptionName, value: unknown, source: Source) => void

function readFile(configFile: unknown, give: Give): void {
  if (typeof configFile !== 'string' || configFile === '') {
    throw invalid({ key: 'configFile', where: 'option' }, 'a path', configFile)
  }
  const givenBy = new Map<OptionName, string>()
  for (const { section, key, value: text, where } of readIniFile(configFile)) {
    const source = { key, where }
    const name = INI_KEYS[section].get(key)
    if (name === undefined) throw invalid(source, oneOf(INI_KEYS[section].keys()), key)
    const other = givenBy.get(name)
    if (other !== undefined) throw invalid(source, `${other} or ${key}`, 'both')
    givenBy.set(name, key)
    const value = readIniText(key, name, text)
    const isRelative = name === 'devUserInfoPath' && text !== ''
    give(name, isRelative ? resolve(dirname(configFile), text) : value, source)
  }
}

function readCode(options: object, give: Give): void {
  for (const [name, value] of Object.entries(options)) {
    const source = { key: name, where: 'option' }
    if (!isOptionName(name)) {
      throw invalid(source, oneOf([...optionNames(), 'configFile']), name)
    }
    if (value !== undefined) give(name, value, source)
  }
}

function check(name: OptionName, value: unknown, source: Source): void {
  const schema = Options.properties[name]
  if (!Value.Check(schema, value)) throw invalid(source, String(schema['expected']), value)
  if (name === 'publicKeys' && !holdsKeys(value)) {
    throw invalid(source, String(schema['expected']), value)
  }
}

function holdsKeys(value: unknown): boolean {
  try {
    return new KeySet(value) !== null
  } catch {
    return false
  }
}

function withDefaults(given: ReadonlyMap<OptionName, unknown>): Settings {
  const values: Record<string, unknown> = {}
  for (const name of optionNames()) {
    const value = given.has(name) ? given.get(name) : Options.properties[name]['default']
    // An own property even where nothing is given: what somebody adds to Object.prototype is no option.
    values[name] = Array.isArray(value) ? Object.freeze([...value]) : value
  }
  Value.Assert(Options, values)
  return Object.freeze(values)
}

function checkTogether(settings: Settings, sources: ReadonlyMap<OptionName, Source>): void {
  const source = sources.get('devMode')
  if (source && settings.devMode && process.env['NODE_ENV'] === 'production') {
    throw invalid(source, 'no dev mode where NODE_ENV is production', true)
  }
}

function oneOf(keys: Iterable<string>): string {
  return `one of ${[...keys].join(', ')}`
}

const MOST_SHOWN = 80

function invalid({ key, where }: Source, expected: string, found: unknown) {
  return new ERR_AUTH_CONFIG_INVALID(
    `${key}: expected ${expected}, found ${show(found)} (${where})`,
  )
}

function show(value: unknown): string {
  const shown = Array.isArray(value) ? `[${value.map(showItem).join(', ')}]` : showItem(value)
  return shown.slice(0, MOST_SHOWN)
}

function showItem(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'a list' : 'an object'
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
