import { AskedIssuers } from './authentication/asked-issuers.ts'
import type { Authenticator } from './authentication/authenticator.ts'
import { BearerToken } from './authentication/bearer-token.ts'
import { Issuer, type IssuerRules } from './authentication/issuer.ts'
import type { IssuerEntry } from './authentication/issuer-entry.ts'
import type { Issuers } from './authentication/issuers.ts'
import { Jwts } from './authentication/jwts.ts'
import { ListedIssuers } from './authentication/listed-issuers.ts'
import { MockUser } from './authentication/mock-user.ts'
import { OpaqueTokens } from './authentication/opaque-tokens.ts'
import { VerifiedTokens } from './authentication/verified-tokens.ts'
import type { GuardRules } from './guard/guard.ts'
import { KeySet } from './keys/key-set.ts'
import {
  type KeySource,
  RemoteKeys,
  type RemoteKeysOptions,
  StaticKeys,
} from './keys/key-source.ts'
import { attendantOf } from './outside/attended.ts'
import { HostSlots } from './outside/host-slots.ts'
import type { RemoteDocumentEvents } from './outside/remote-document.ts'
import { Slots } from './outside/slots.ts'
import { ImmutableSet } from './rights/resource-set.ts'
import type { LoadedSettings } from './settings/load-settings.ts'
import type { Settings } from './settings/options.ts'
import { readIssuerRules } from './settings/read-issuer-rules.ts'
import { AnyTenant } from './tenants/any-tenant.ts'
import { AskedTenants } from './tenants/asked-tenants.ts'
import type { KnownTenants } from './tenants/known-tenants.ts'
import { ListedTenants } from './tenants/listed-tenants.ts'
import { RemoteTenants } from './tenants/remote-tenants.ts'
import { normalizeTokenType } from './tokens/jose-header.ts'

/** Who asks: in dev mode the mock user, in production the bearer of a token. */
export function composeAuthenticator(loaded: LoadedSettings, events: KeyEvents): Authenticator {
  const { settings, mockUser } = loaded
  if (mockUser) return new MockUser(mockUser, settings)
  const { tokenFrom, isRevoked, tenantsTimeout: timeout, maxTokenLength } = settings
  const tokens = new VerifiedTokens(settings.tokenCacheSize, settings.clockTolerance)
  const issuers = composeIssuers(loaded, tokens, events)
  const jwts = new Jwts(issuers, tokens, maxTokenLength)
  const opaqueTokens = composeOpaqueTokens(settings, { jwts, issuers, tokens })
  const parts = { issuers, tokens, jwts, opaqueTokens }
  return new BearerToken(parts, { tokenFrom, isRevoked, timeout })
}

/** What begins with the first installation of a service, and ends with its last. */
export interface Background {
  open(): void
  close(): void
}

/** Of the functions that were given as options, those that work in the background. */
export function composeAttendants(
  { settings, mockUser }: LoadedSettings,
  tell: (reason: string) => void,
): Background[] {
  // Dev mode asks none of them.
  const functions = mockUser ? [] : [settings.opaqueToken, settings.isRevoked]
  return functions.flatMap((given) => {
    const attendant = attendantOf(given)
    return attendant ? [{ open: () => attendant.open(tell), close: () => attendant.close() }] : []
  })
}

/** What the operator is told of keys that cannot be fetched, by the name of their issuer. */
export type KeyEvents = (issuer: string) => RemoteDocumentEvents

function composeIssuers(
  { settings, issuers }: LoadedSettings,
  tokens: VerifiedTokens,
  events: KeyEvents,
): Issuers {
  const slots = new HostSlots(MOST_FETCHES_OF_HOST, new Slots(MOST_FETCHES))
  if (typeof issuers !== 'function') {
    const fetching = { slots, isLazy: false, publicOnly: false }
    return new ListedIssuers(
      issuers.map((entry) => {
        const keys = composeKeys(entry, settings, fetching, events)
        return new Issuer(keys, rulesOf(entry, settings), tokens)
      }),
    )
  }
  const { tenantsTimeout, issuersMaxAge, keysMaxStale, keysCooldown, allowPrivateIssuers } =
    settings
  const fetching = { slots, isLazy: true, publicOnly: !allowPrivateIssuers }
  return new AskedIssuers({
    ask: issuers,
    read: (iss, answer) => readIssuerRules(iss, answer, settings),
    keysOf: (entry) => composeKeys(entry, settings, fetching, events),
    issuerOf: (entry, keys, isTrusted) =>
      new Issuer(keys, rulesOf(entry, settings), tokens, isTrusted),
    timeout: tenantsTimeout,
    maxAge: issuersMaxAge,
    maxStale: keysMaxStale,
    cooldown: keysCooldown,
  })
}

/** Fetches at one time, over all issuers; and those of them from one host. */
const MOST_FETCHES = 32
const MOST_FETCHES_OF_HOST = 16

/** Immutable: what decides must be the same for each request. */
function rulesOf(entry: IssuerEntry, settings: Settings): IssuerRules {
  const { name, issuer, audience, algorithms, tokenTypes, mapClaims, tenants } = entry
  const { clockTolerance, confirmation, superuserResource } = settings
  return Object.freeze({
    name,
    issuer,
    audience,
    algorithms: new ImmutableSet(algorithms),
    tokenTypes: new ImmutableSet(tokenTypes?.map(normalizeTokenType) ?? DEFAULT_TOKEN_TYPES),
    mapClaims,
    tenants: tenants === '*' ? tenants : new ImmutableSet(tenants),
    clockTolerance,
    confirmation,
    superuserResource,
  })
}

function composeKeys(
  { publicKeys, publicKeysUrl, issuer, name }: IssuerEntry,
  settings: Settings,
  fetching: Pick<RemoteKeysOptions, 'slots' | 'isLazy' | 'publicOnly'>,
  events: KeyEvents,
): KeySource {
  if (publicKeys !== undefined) return new StaticKeys(new KeySet(publicKeys))
  const { keysTimeout: timeout, keysMaxAge: maxAge, keysMaxStale: maxStale } = settings
  const { keysCooldown: cooldown, keysRetry: retry } = settings
  const location =
    publicKeysUrl === undefined ? { issuer: String(issuer?.[0]) } : { url: publicKeysUrl }
  const freshness = { timeout, maxAge, maxStale, retry, retryMax: cooldown }
  return new RemoteKeys({ location, cooldown, ...freshness, ...fetching }, events(name))
}

function composeOpaqueTokens(
  settings: Settings,
  known: { readonly jwts: Jwts; readonly issuers: Issuers; readonly tokens: VerifiedTokens },
): OpaqueTokens | undefined {
  const { opaqueToken, opaqueMaxAge: maxAge, tenantsTimeout: timeout, maxTokenLength } = settings
  if (opaqueToken === undefined) return undefined
  return new OpaqueTokens({ opaqueToken, maxAge, timeout, maxTokenLength }, known)
}

/** What is known of which tenants exist. */
export function composeKnownTenants(
  settings: Settings,
  events: RemoteDocumentEvents,
): KnownTenants {
  const { tenants, devMode, tenantsTimeout: timeout, tenantsMaxAge: maxAge } = settings
  if (tenants === undefined) return new AnyTenant()
  if (typeof tenants === 'function') return new AskedTenants(tenants, { timeout, maxAge })
  if (typeof tenants !== 'string') return new ListedTenants(tenants)
  // Dev mode asks no URL.
  if (devMode) return new AnyTenant()
  const { keysMaxStale: maxStale, keysRetry: retry, keysCooldown: retryMax } = settings
  return new RemoteTenants(tenants, { timeout, maxAge, maxStale, retry, retryMax }, events)
}

/** What a guard of one application rests on. */
export function composeGuardRules(
  { resolveTenant, tenantParameter, tenantsTimeout: timeout, realm }: Settings,
  shared: Pick<GuardRules, 'authenticator' | 'knownTenants' | 'waits'>,
): GuardRules {
  return { ...shared, resolveTenant, tenantParameter, timeout, realm }
}

const DEFAULT_TOKEN_TYPES = [normalizeTokenType('JWT'), normalizeTokenType('at+jwt'), undefined]
