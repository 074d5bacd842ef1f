import { BearerToken } from './authentication/bearer-token.ts'
import { KeySet } from './keys/key-set.ts'
import { type KeySource, RemoteKeys, StaticKeys } from './keys/key-source.ts'
import type { RemoteDocumentEvents } from './outside/remote-document.ts'
import { ImmutableSet } from './rights/resource-set.ts'
import type { Settings } from './settings/options.ts'
import {
  AnyTenant,
  AskedTenants,
  type KnownTenants,
  ListedTenants,
  RemoteTenants,
} from './tenants/known-tenants.ts'
import { normalizeTokenType } from './tokens/jose-header.ts'

/** Production: bearer tokens, verified with the authorization server's keys. */
export function composeBearerToken(settings: Settings, events: RemoteDocumentEvents): BearerToken {
  const { issuer, audience, algorithms, tokenTypes } = settings
  // Immutable: what decides must be the same for each request.
  const rules = Object.freeze({
    ...settings,
    issuer: asList(issuer),
    audience: asList(audience),
    algorithms: new ImmutableSet(algorithms),
    tokenTypes: new ImmutableSet(tokenTypes?.map(normalizeTokenType) ?? DEFAULT_TOKEN_TYPES),
    timeout: settings.tenantsTimeout,
  })
  return new BearerToken(composeKeySource(settings, events), rules)
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

function composeKeySource(settings: Settings, events: RemoteDocumentEvents): KeySource {
  const { publicKeys, publicKeysUrl: url, keysCooldown: cooldown } = settings
  if (publicKeys) return new StaticKeys(new KeySet(publicKeys))
  const { keysTimeout: timeout, keysMaxAge: maxAge, keysMaxStale: maxStale } = settings
  const retry = { retry: settings.keysRetry, retryMax: cooldown }
  return new RemoteKeys({ url, cooldown, timeout, maxAge, maxStale, ...retry }, events)
}

const DEFAULT_TOKEN_TYPES = [normalizeTokenType('JWT'), normalizeTokenType('at+jwt'), undefined]

function asList(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? Object.freeze([value]) : value
}
