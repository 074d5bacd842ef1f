import { Value } from '@sinclair/typebox/value'
import type { IssuerEntry } from '../authentication/issuer-entry.ts'
import { ownProperty } from '../outside/own-property.ts'
import type { UserInfo } from '../tokens/user-info.ts'
import { checkIssuers } from './check-issuers.ts'
import { type GivenOptions, readGivenOptions } from './given-options.ts'
import { optionNames } from './ini-values.ts'
import { listedEntry, optionsEntry } from './issuer-entries.ts'
import type { FindIssuer } from './issuer-rules.ts'
import { loadMockUser } from './mock-user-file.ts'
import { type AuthOptions, type OptionName, Options, type Settings } from './options.ts'
import { Problems } from './problems.ts'

export interface LoadedSettings {
  readonly settings: Settings
  /** The options that somebody gave; all others have their defaults. */
  readonly given: ReadonlySet<OptionName>
  /**
   * Whose tokens are accepted: a list, of one where the options themselves are the rules, or a
   * function, whose answers `readIssuerRules` reads. Empty in dev mode.
   */
  readonly issuers: readonly IssuerEntry[] | FindIssuer
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
  const givenOptions = readGivenOptions(options, problems)
  const settings = withDefaults(givenOptions.values)
  refuseInProduction(settings, givenOptions, problems)
  checkIssuers(givenOptions, settings, problems)
  const given = new Set(givenOptions.sources.keys())
  const mockUser = settings.devMode
    ? loadMockUser(settings.devUserInfoPath, given.has('devUserInfoPath'), problems)
    : null
  problems.throwIfAny()
  const issuers = settings.devMode ? Object.freeze([]) : issuersOf(givenOptions, settings, given)
  return { settings, given, issuers, mockUser }
}

function withDefaults(given: ReadonlyMap<OptionName, unknown>): Settings {
  // All are own properties, given or not: what is added to Object.prototype is no option.
  const values: unknown = Object.fromEntries(
    optionNames().map((name) => {
      const value = given.has(name) ? given.get(name) : defaultOf(name, given)
      return [name, Array.isArray(value) ? Object.freeze([...value]) : value]
    }),
  )
  Value.Assert(Options, values)
  return Object.freeze(values)
}

function defaultOf(name: OptionName, given: ReadonlyMap<OptionName, unknown>): unknown {
  // A token must be meant for this very API (RFC 8707 §2).
  if (name === 'audience') return given.get('resource')
  return ownProperty(Options.properties[name], 'default')
}

function refuseInProduction(
  settings: Settings,
  { sources }: GivenOptions,
  problems: Problems,
): void {
  const source = sources.get('devMode')
  if (source && settings.devMode && process.env['NODE_ENV'] === 'production') {
    problems.add(source, 'no dev mode where NODE_ENV is production', 'true')
  }
}

function issuersOf(
  { issuerLists }: GivenOptions,
  settings: Settings,
  given: ReadonlySet<OptionName>,
): LoadedSettings['issuers'] {
  if (typeof settings.issuers === 'function') return settings.issuers
  const listed = issuerLists.at(-1)?.map((written) => listedEntry(written.listed, settings))
  return Object.freeze(listed ?? [optionsEntry(settings, given)])
}
