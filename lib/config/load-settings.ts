import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { AuthError } from '../errors.ts'
import type { IssuerEntry } from '../identity/authentication/issuer.ts'
import { ImpliedIds, wrongImplied } from '../identity/authorization/implied-ids.ts'
import type { RightsRules } from '../identity/authorization/rights.ts'
import { asksForProof } from '../identity/jwt/confirmation.ts'
import { readUserInfo, type UserInfo } from '../identity/jwt/user-info.ts'
import { TenantAddresses } from '../identity/tenants/tenant-addresses.ts'
import { errorCode } from '../platform/runtime/error.ts'
import { isObject } from '../platform/runtime/own-property.ts'
import { readIniOptions } from './ini-values.ts'
import {
  checkIssuers,
  type IssuerReader,
  issuerEntry,
  type OptionsReader,
  refuseAddresses,
} from './issuer-config.ts'
import { type FindIssuer, Rules } from './issuer-schema.ts'
import { inCode, OptionReader } from './option-reader.ts'
import {
  type AuthOptions,
  IMPLIES_EXPECTED,
  type OptionName,
  Options,
  type Settings,
} from './options.ts'
import { ownMembers, Problems } from './problems.ts'
import { showName, showReason, showValue } from './redact.ts'

export interface LoadedSettings {
  readonly settings: Settings
  /** The options that were given; all others have their defaults. */
  readonly given: ReadonlySet<OptionName>
  /**
   * The accepted issuers: a list, of one if the options themselves are the rules, or a function,
   * whose answers `parseIssuerRules` reads. Empty in dev mode.
   */
  readonly issuers: readonly IssuerEntry[] | FindIssuer
  /** The user of every request in dev mode; null in production. */
  readonly mockUser: UserInfo | null
  readonly rights: RightsRules
  /** The addresses of `resource`, if each tenant has one of its own. */
  readonly addresses: TenantAddresses | undefined
  readonly configFile: string | undefined
}

/**
 * The settings. Later sources win: defaults, then the INI file, then code.
 *
 * The way of an option: `options` defines it. `ini-file` finds its line, `ini-values` its name and
 * its value. `option-reader` checks each by itself, `issuer-config` some of them together.
 *
 * @throws ERR_AUTH_CONFIG_INVALID with all that is wrong
 */
export function loadSettings(options: AuthOptions): LoadedSettings {
  const problems = new Problems()
  const reader = new OptionReader(Options.properties, inCode, problems)
  const issuerLists = readSources(options, reader, problems)
  const { given, keySet } = reader
  const whole = withOwnChecks(reader.whole)
  const addresses = tenantAddresses(whole, reader)
  if (addresses !== undefined) {
    refuseAddresses(reader, whole.audience, addresses)
    for (const each of issuerLists.flat()) refuseAddresses(each, each.right.audience, addresses)
  }
  const settings = withResource(whole, addresses)
  if (settings.devMode && isProduction(process.env)) {
    reader.refuse('devMode', 'no dev mode where NODE_ENV is production', 'true')
  }
  checkIssuers(reader, settings, issuerLists)
  checkProofs(settings, reader)
  const rights = rightsRules(settings, reader)
  const mockUser = settings.devMode
    ? loadMockUser(settings.devUserInfoPath, given.has('devUserInfoPath'), problems)
    : null
  problems.throwIfAny()
  const issuers = issuersOf(settings, { given, keySet }, issuerLists.at(-1))
  const configFile = Object.hasOwn(options, CONFIG_FILE) ? options.configFile : undefined
  return { settings, given, issuers, mockUser, rights, addresses, configFile }
}

/** The application may change its own object later. The boot and the guard read one copy. */
function withOwnChecks(settings: Settings): Settings {
  const { checks } = settings
  return checks === undefined ? settings : { ...settings, checks: Object.freeze({ ...checks }) }
}

/**
 * Reads the INI file, and then the options in code.
 *
 * @returns each list of issuers; the last one counts
 */
function readSources(
  options: unknown,
  reader: OptionsReader,
  problems: Problems,
): (readonly IssuerReader[])[] {
  const own = ownMembers(options, inCode('options'), inCode, problems)
  const lists: (readonly IssuerReader[])[] = []
  if (own.has(CONFIG_FILE)) {
    const file = own.get(CONFIG_FILE)
    if (typeof file === 'string' && file !== '') lists.push(readIniOptions(file, reader, problems))
    else problems.addValue(inCode(CONFIG_FILE), 'a path', file)
    own.delete(CONFIG_FILE)
  }
  for (const [name, value] of own) {
    reader.takeMember(name, value, [CONFIG_FILE])
    if (name === 'issuers') lists.push(listedIssuers(reader.right.issuers, problems))
  }
  return lists.filter(({ length }) => length > 0)
}

const CONFIG_FILE = 'configFile'

/** The issuers of a list in code; none if it is a function, or wrong. */
function listedIssuers(value: Settings['issuers'], problems: Problems): readonly IssuerReader[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : []
  return list.flatMap((rules, index) => {
    const placeOf = (member: string) => inCode(`issuers[${index}].${member}`)
    const reader = new OptionReader(Rules.properties, placeOf, problems)
    reader.takeObject(rules, inCode(`issuers[${index}]`))
    return isObject(rules) ? [reader] : []
  })
}

/** The addresses of `resource`; undefined: it is one address, or none. */
function tenantAddresses(
  { resource, tenantParameter }: Settings,
  reader: OptionsReader,
): TenantAddresses | undefined {
  if (resource === undefined) return undefined
  const own = `:${tenantParameter}`
  const { pathname } = new URL(resource)
  const segments = pathname.split('/').filter((each) => isParameter(each, own))
  if (segments.length === 0) return undefined
  if (segments.join() === own) return new TenantAddresses(resource, tenantParameter)
  const expected = `no parameter but one whole segment ${own}`
  reader.refuse('resource', expected, showValue(resource), 'its name is tenantParameter')
  return undefined
}

/** True: a segment is a parameter, or has that of the tenant as a part. */
function isParameter(segment: string, own: string): boolean {
  return segment.startsWith(':') || new RegExp(`${own}(?!\\w)`).test(segment)
}

/**
 * What the API's own address says: a token must be meant for this very API (RFC 8707 §2), and
 * clients know it by that origin. An address for each tenant is no audience that all may name.
 */
function withResource(settings: Settings, addresses: TenantAddresses | undefined): Settings {
  const { resource } = settings
  if (resource === undefined) return Object.freeze(settings)
  const { publicUrl = new URL(resource).origin } = settings
  const audience = settings.audience ?? (addresses ? undefined : resource)
  return Object.freeze({ ...settings, ...(audience && { audience }), publicUrl })
}

/** On Windows `set NODE_ENV=production && node app` sets it with a blank at its end. */
export function isProduction({ NODE_ENV = '' }: NodeJS.ProcessEnv): boolean {
  return NODE_ENV.trim().toLowerCase() === 'production'
}

/** A proof is for one address, and what a request says of its host is not to be trusted. */
function checkProofs({ confirmation, publicUrl }: Settings, reader: OptionsReader): void {
  if (!asksForProof(confirmation) || publicUrl !== undefined) return
  // One that cannot be used is a problem of its own.
  if (reader.has('publicUrl') || reader.has('resource')) return
  const hint = 'a proof names the address that clients know the API by'
  reader.refuse('confirmation', 'publicUrl, or resource, beside it', 'none', hint)
}

function rightsRules({ superuserResource, implies }: Settings, reader: OptionsReader): RightsRules {
  const wrong = implies === undefined ? [] : wrongImplied(implies)
  for (const [id, ids] of wrong) {
    reader.refuse('implies', IMPLIES_EXPECTED, `${showName(id)}: ${showValue(ids)}`)
  }
  if (wrong.length > 0) return {}
  const implied = implies && new ImpliedIds(implies)
  const circles = implied?.inCircle ?? []
  if (circles.length > 0) {
    reader.refuse('implies', 'ids that do not imply themselves', showName(circles.join(', ')))
  }
  if (superuserResource !== undefined && implied?.implies(superuserResource)) {
    const expected = 'ids that do not imply superuserResource'
    reader.refuse('implies', expected, superuserResource, 'grant it under * in its own right')
  }
  return Object.freeze({ superuserResource, implied })
}

/** The user of dev mode without a file. */
const BUILT_IN = {
  sub: 'dev',
  preferred_username: 'dev',
  resources: { default: [], 'test-tenant': [] },
}

/**
 * The mock user of dev mode; null if there is a problem.
 *
 * @param isConfigured whether the option was given; then the file must exist
 */
export function loadMockUser(
  path: string,
  isConfigured: boolean,
  problems: Problems,
): UserInfo | null {
  const file = resolve(path)
  let text = ''
  try {
    // The decoder skips a byte order mark, which JSON.parse refuses.
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
    return readUserInfo(JSON.parse(text))
  } catch (error) {
    if (errorCode(error) === 'ENOENT' && !isConfigured)
      return readUserInfo(structuredClone(BUILT_IN))
    const expected = 'a JSON file with user info: sub, preferred_username, resources'
    problems.add({ key: 'devUserInfoPath', where: file }, expected, fileProblem(error, text))
    return null
  }
}

/** Shows nothing of the file's text. */
function fileProblem(error: unknown, text: string): string {
  if (errorCode(error) === 'ENOENT') return 'none'
  if (error instanceof AuthError)
    return `user info that cannot be used: ${showReason(error.reason)}`
  if (errorCode(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'text that is not UTF-8'
  if (!(error instanceof SyntaxError)) return 'one that cannot be read'
  const position = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(error.message)?.[1]
  if (position === undefined) return 'text that is no JSON'
  return `no JSON from line ${text.slice(0, Number(position)).split('\n').length} on`
}

function issuersOf(
  settings: Settings,
  { given, keySet: ofOptions }: Pick<OptionsReader, 'given' | 'keySet'>,
  listed: readonly IssuerReader[] | undefined,
): LoadedSettings['issuers'] {
  if (settings.devMode) return Object.freeze([])
  if (typeof settings.issuers === 'function') return settings.issuers
  if (listed) {
    return Object.freeze(listed.map(({ whole, keySet }) => issuerEntry(whole, settings, keySet)))
  }
  const isDiscovered = settings.issuer !== undefined && !given.has('publicKeysUrl')
  const hasUrl = settings.publicKeys === undefined && !isDiscovered
  const publicKeysUrl = hasUrl ? settings.publicKeysUrl : undefined
  // The function of the option is not the issuer's own.
  const own = { name: undefined, resourcesOf: undefined }
  const rules = { ...settings, ...own, tenants: '*', publicKeysUrl } as const
  return Object.freeze([issuerEntry(rules, settings, ofOptions)])
}
