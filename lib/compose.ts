import type { Authenticator } from './authentication/authenticator.ts'
import { BearerToken } from './authentication/bearer-token.ts'
import { Issuer } from './authentication/issuer.ts'
import { MockUser } from './authentication/mock-user.ts'
import type { GuardRules } from './guard/guard.ts'
import { KeySet } from './keys/key-set.ts'
import { type KeySource, RemoteKeys, StaticKeys } from './keys/key-source.ts'
import type { RemoteDocumentEvents } from './outside/remote-document.ts'
import { ImmutableSet } from './rights/resource-set.ts'
import type { LoadedSettings } from './settings/load-settings.ts'
import type { Settings } from './settings/options.ts'
import { AnyTenant } from './tenants/any-tenant.ts'
import { AskedTenants } from './tenants/asked-tenants.ts'
import type { KnownTenants } from './tenants/known-tenants.ts'
import { ListedTenants } from './tenants/listed-tenants.ts'
import { RemoteTenants } from './tenants/remote-tenants.ts'
import { normalizeTokenType } from './tokens/jose-header.ts'

/** Who asks: in dev mode the mock user, in production the bearer of a token. */
export function composeAuthenticator(
  { settings, mockUser }: LoadedSettings,
  events: RemoteDocumentEvents,
): Authenticator {
  if (mockUser) return new MockUser(mockUser, settings)
  const { tokenFrom, isRevoked, tenantsTimeout: timeout } = settings
  return new BearerToken(composeIssuer(settings, events), { tokenFrom, isRevoked, timeout })
}

function composeIssuer(settings: Settings, events: RemoteDocumentEvents): Issuer {
  const { issuer, audience, algorithms, tokenTypes } = settings
  // Immutable: what decides must be the same for each request.
  const rules = Object.freeze({
    ...settings,
    issuer: asList(issuer),
    audience: asList(audience),
    algorithms: new ImmutableSet(algorithms),
    tokenTypes: new ImmutableSet(tokenTypes?.map(normalizeTokenType) ?? DEFAULT_TOKEN_TYPES),
  })
  return new Issuer(composeKeySource(settings, events), rules)
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

function composeKeySource(settings: Settings, events: RemoteDocumentEvents): KeySource {
  const { publicKeys, publicKeysUrl: url, keysCooldown: cooldown } = settings
  if (publicKeys) return new StaticKeys(new KeySet(publicKeys))
  const { keysTimeout: timeout, keysMaxAge: maxAge, keysMaxStale: maxStale } = settings
  const retry = { retry: settings.keysRetry, retryMax: cooldown }
  return new RemoteKeys(
    { location: { url }, cooldown, timeout, maxAge, maxStale, ...retry },
    events,
  )
}

const DEFAULT_TOKEN_TYPES = [normalizeTokenType('JWT'), normalizeTokenType('at+jwt'), undefined]

function asList(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? Object.freeze([value]) : value
}
