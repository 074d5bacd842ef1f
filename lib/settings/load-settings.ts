import { dirname, resolve } from 'node:path'
import { Value } from '@sinclair/typebox/value'
import { KeySet } from '../keys/key-set.ts'
import type { UserInfo } from '../tokens/user-info.ts'
import { readIniFile } from './ini-file.ts'
import { INI_KEYS, isOptionName, optionNames, readIniText } from './ini-values.ts'
import { nearestName } from './look-alike.ts'
import { loadMockUser } from './mock-user-file.ts'
import { type AuthOptions, type OptionName, Options, type Settings } from './options.ts'
import { Problems, type Source } from './problems.ts'
import { showName, showReason, showValue } from './shown-value.ts'

export interface LoadedSettings {
  readonly settings: Settings
  /** The options that somebody gave; all others have their defaults. */
  readonly given: ReadonlySet<OptionName>
  /** Who every request acts as in dev mode; null in production. */
  readonly mockUser: UserInfo | null
}

/**
 * The settings. Later sources win: defaults, then the INI file, then code.
 *
 * @throws ERR_AUTH_CONFIG_INVALID with all that is wrong
 */
export function loadSettings(options: AuthOptions): LoadedSettings {
  const problems = new Problems()
  const values = new Map<OptionName, unknown>()
  const sources = new Map<OptionName, Source>()
  for (const given of readSources(options, problems)) {
    if (!check(given, problems)) continue
    values.set(given.name, given.value)
    sources.set(given.name, given.source)
  }
  const settings = withDefaults(values)
  checkTogether(settings, sources, problems)
  const mockUser = settings.devMode
    ? loadMockUser(settings.devUserInfoPath, values.has('devUserInfoPath'), problems)
    : null
  problems.throwIfAny()
  return { settings, given: new Set(values.keys()), mockUser }
}

/** A value that somebody gave an option. */
interface Given {
  readonly name: OptionName
  readonly value: unknown
  /** The value as it was written. */
  readonly written: unknown
  readonly source: Source
}

function* readSources(options: unknown, problems: Problems): Generator<Given, void> {
  const own = ownValues(options, problems)
  if (own.has(CONFIG_FILE)) yield* readFile(own.get(CONFIG_FILE), problems)
  own.delete(CONFIG_FILE)
  yield* readCode(own, problems)
}

const CONFIG_FILE = 'configFile'

/** By own properties only: what somebody adds to Object.prototype is no option. */
function ownValues(options: unknown, problems: Problems): Map<string, unknown> {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    problems.add(inCode('options'), 'an object', showValue(options))
    return new Map()
  }
  return new Map(
    Object.getOwnPropertyNames(options).map((name) => [name, Reflect.get(options, name)]),
  )
}

function* readFile(configFile: unknown, problems: Problems): Generator<Given, void> {
  if (typeof configFile !== 'string' || configFile === '') {
    refuse(inCode(CONFIG_FILE), 'a path', configFile, problems)
    return
  }
  const givenBy = new Map<OptionName, string>()
  for (const { section, key, value: text, where } of readIniFile(configFile, problems)) {
    const source = { key, where }
    const name = INI_KEYS[section].get(key)
    if (name === undefined) {
      refuseUnknown(source, [...INI_KEYS[section].keys()], text, problems)
      continue
    }
    const other = givenBy.get(name)
    if (other !== undefined) problems.add(source, `${other} or ${key}`, 'both')
    givenBy.set(name, key)
    const isRelative = name === 'devUserInfoPath' && text !== ''
    const value = isRelative ? resolve(dirname(configFile), text) : readIniText(key, name, text)
    yield { name, value, written: text, source }
  }
}

function* readCode(own: ReadonlyMap<string, unknown>, problems: Problems): Generator<Given, void> {
  for (const [name, value] of own) {
    const source = inCode(name)
    if (isOptionName(name)) yield { name, value, written: value, source }
    else refuseUnknown(source, [...optionNames(), CONFIG_FILE], value, problems)
  }
}

function check({ name, value, written, source }: Given, problems: Problems): boolean {
  const schema = Options.properties[name]
  const expected = String(schema['expected'])
  const reason = name === 'publicKeys' ? reasonAgainstKeys(value) : null
  if (reason !== null) {
    problems.add(source, expected, `${showValue(written)}: ${showReason(reason)}`)
    return false
  }
  if (Value.Check(schema, value)) return true
  refuse(source, expected, written, problems)
  return false
}

/** Why a key set cannot be used. Null where it can, or is no object, which says enough. */
function reasonAgainstKeys(keys: unknown): string | null {
  if (typeof keys !== 'object' || keys === null) return null
  try {
    new KeySet(keys)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read'
  }
}

function withDefaults(given: ReadonlyMap<OptionName, unknown>): Settings {
  // All are own properties, given or not: what is added to Object.prototype is no option.
  const values: unknown = Object.fromEntries(
    optionNames().map((name) => {
      const value = given.has(name) ? given.get(name) : Options.properties[name]['default']
      return [name, Array.isArray(value) ? Object.freeze([...value]) : value]
    }),
  )
  Value.Assert(Options, values)
  return Object.freeze(values)
}

function checkTogether(
  settings: Settings,
  sources: ReadonlyMap<OptionName, Source>,
  problems: Problems,
): void {
  const source = sources.get('devMode')
  if (source && settings.devMode && process.env['NODE_ENV'] === 'production') {
    problems.add(source, 'no dev mode where NODE_ENV is production', 'true')
  }
}

function inCode(key: string): Source {
  return { key, where: 'option' }
}

function refuse(source: Source, expected: string, value: unknown, problems: Problems): void {
  const hint = lacksValue(value) ? 'is an environment variable missing?' : undefined
  problems.add(source, expected, showValue(value), hint)
}

/** `process.env.NOPE`, alone or in a list. */
function lacksValue(value: unknown): boolean {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  return values.includes(undefined)
}

function refuseUnknown(
  source: Source,
  known: readonly string[],
  value: unknown,
  problems: Problems,
): void {
  const nearest = nearestName(source.key, known)
  if (nearest === undefined) {
    // What other software calls so may be a secret: its value is not shown.
    problems.add(source, `one of ${known.join(', ')}`, `"${showName(source.key)}"`)
  } else {
    const keys = [nearest, ...known.filter((key) => key !== nearest)]
    const hint = `did you mean ${nearest}?`
    problems.add(source, `one of ${keys.join(', ')}`, showValue(value), hint)
  }
}
