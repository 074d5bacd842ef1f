import { composeIssuers, type EventsOfKeys } from './compose-issuers.ts'
import type { LoadedSettings } from './config/load-settings.ts'
import type { Settings } from './config/options.ts'
import { publishInternal } from './guard/decision-events.ts'
import type { GuardRules } from './guard/guard.ts'
import { DecisionCounts } from './guard/stats.ts'
import type { Authenticator } from './identity/authentication/authenticator.ts'
import { BearerAuthenticator } from './identity/authentication/bearer-authenticator.ts'
import { DevAuthenticator } from './identity/authentication/dev-authenticator.ts'
import type { Issuers } from './identity/authentication/issuers.ts'
import { JwtVerifier } from './identity/authentication/jwt-verifier.ts'
import { OpaqueTokens } from './identity/authentication/opaque-tokens.ts'
import { denialsOf, watchOf } from './identity/authentication/revocation-check.ts'
import { VerifiedTokens } from './identity/authentication/verified-tokens.ts'
import { ActAs } from './identity/authorization/act-as.ts'
import type { Authorization } from './identity/authorization/authorization.ts'
import { openContexts } from './identity/authorization/current-authorization.ts'
import { ExternalRights } from './identity/authorization/external-rights.ts'
import {
  AnyTenant,
  type KnownTenants,
  ListedTenants,
  TenantsByFunction,
} from './identity/tenants/known-tenants.ts'
import { RemoteTenants } from './identity/tenants/remote-tenants.ts'
import { OperatorLog } from './operator-log.ts'
import {
  type AcceptedIssuers,
  type Lifecycle,
  lifecycleOf,
} from './platform/callbacks/lifecycle.ts'
import type { PendingRequests } from './platform/callbacks/pending-requests.ts'
import type { RemoteDocumentEvents } from './platform/http/remote-document.ts'

/** What a service rests on. */
export interface ServiceParts {
  readonly authenticator: Authenticator
  readonly knownTenants: KnownTenants
  readonly background: readonly Background[]
  readonly attendants: readonly Lifecycle[]
  /** Those of the background that stand for them. */
  readonly attending: readonly Attending[]
  readonly counts: DecisionCounts
  readonly internalWork: ActAs
  readonly log: OperatorLog
}

export function composeParts(loaded: LoadedSettings, log: OperatorLog): ServiceParts {
  const authenticator = composeAuthenticator(loaded, (issuer) => log.keys(issuer), log)
  const knownTenants = composeKnownTenants(loaded.settings, log.document('tenants', 'tenants'), log)
  const attendants = attendantsOf(loaded)
  const attending = attendants.map((attendant) => attendingTo(attendant, loaded, log))
  const background = [authenticator, knownTenants, ...attending]
  const internalWork = composeInternalWork(loaded.settings, knownTenants)
  const counts = new DecisionCounts()
  const working = { background, attendants, attending, counts, internalWork }
  return { authenticator, knownTenants, ...working, log }
}

/** Where nobody listens. */
const NO_LOG = new OperatorLog(() => undefined)

/** Who asks: in dev mode the mock user, in production the bearer of a token. */
export function composeAuthenticator(
  loaded: LoadedSettings,
  events: EventsOfKeys,
  log = NO_LOG,
): Authenticator {
  const { settings, mockUser } = loaded
  if (mockUser) return new DevAuthenticator(mockUser, settings)
  const { tokenFrom, isRevoked, tenantsTimeout: timeout, maxTokenLength } = settings
  const tokens = new VerifiedTokens(settings.tokenCacheSize, settings.clockTolerance)
  const issuers = composeIssuers(loaded, tokens, events, log)
  const jwts = new JwtVerifier(issuers, tokens, maxTokenLength)
  const opaqueTokens = composeOpaqueTokens(settings, { jwts, issuers, tokens }, log)
  const rights = composeRights(loaded, log)
  const parts = { issuers, tokens, jwts, opaqueTokens, rights }
  const reportTokenFrom = log.callback('tokenFrom')
  const reportIsRevoked = log.callback('isRevoked')
  const asking = { tokenFrom, reportTokenFrom, isRevoked, reportIsRevoked, timeout }
  return new BearerAuthenticator(parts, asking)
}

function composeOpaqueTokens(
  settings: Settings,
  known: { readonly jwts: JwtVerifier; readonly issuers: Issuers; readonly tokens: VerifiedTokens },
  log: OperatorLog,
): OpaqueTokens | undefined {
  const { opaqueToken, opaqueMaxAge: maxAge, tenantsTimeout: timeout, maxTokenLength } = settings
  if (opaqueToken === undefined) return undefined
  const report = log.callback('opaqueToken')
  return new OpaqueTokens({ opaqueToken, maxAge, timeout, maxTokenLength, report }, known)
}

function composeRights(
  { settings, issuers }: LoadedSettings,
  log: OperatorLog,
): ExternalRights | undefined {
  const { resourcesOf, resourcesMaxAge: maxAge, tenantsTimeout: timeout } = settings
  if (resourcesOf === undefined) return undefined
  const { superuserResource } = settings
  const report = log.callback('resourcesOf')
  // An entry may have several identifiers, or accept any.
  const hasSeveralIssuers =
    typeof issuers === 'function' ||
    issuers.flatMap(({ issuer }) => issuer ?? ['any', 'other']).length > 1
  const rules = { resourcesOf, timeout, maxAge, superuserResource }
  return new ExternalRights({ ...rules, report, hasSeveralIssuers })
}

/** Work under an authorization that no request brings. */
function composeInternalWork(settings: Settings, knownTenants: KnownTenants): ActAs {
  const { asyncContext, superuserResource } = settings
  if (asyncContext) openContexts()
  const onBegin = ({ userInfo, tenant }: Authorization) =>
    publishInternal({ sub: userInfo.sub, tenant })
  return new ActAs({ asyncContext, superuserResource, knownTenants, onBegin })
}

/** What is known of which tenants exist. */
export function composeKnownTenants(
  settings: Settings,
  events: RemoteDocumentEvents,
  log = NO_LOG,
): KnownTenants {
  const { tenants, devMode, tenantsTimeout: timeout, tenantsMaxAge: maxAge } = settings
  if (tenants === undefined) return new AnyTenant()
  if (typeof tenants === 'function') {
    return new TenantsByFunction(tenants, { timeout, maxAge, report: log.callback('tenants') })
  }
  if (typeof tenants !== 'string') return new ListedTenants(tenants)
  // Dev mode asks no URL.
  if (devMode) return new AnyTenant()
  const { keysMaxStale: maxStale, keysRetry: retry, keysCooldown: retryMax } = settings
  return new RemoteTenants(tenants, { timeout, maxAge, maxStale, retry, retryMax }, events)
}

/** What a guard of one application rests on. */
export function composeGuardRules(
  settings: Settings,
  { authenticator, knownTenants, counts, log }: ServiceParts,
  waits: PendingRequests,
): GuardRules {
  const { resolveTenant, tenantParameter, tenantsTimeout: timeout, isRevoked } = settings
  const { realm, resource, clockTolerance, asyncContext, logBindings } = settings
  const asked = { authenticator, knownTenants, resolveTenant, tenantParameter, timeout, waits }
  const told = { counts, logBindings, asyncContext, realm, resource }
  const reportTenant = log.callback('resolveTenant')
  const revocation = { denies: denialsOf(isRevoked), watchRevocation: watchOf(isRevoked) }
  return { ...asked, ...told, ...revocation, reportTenant, clockTolerance }
}

/** What begins with the first installation of a service, and ends with its last. */
interface Background {
  open(): void
  close(): void
  readonly isReady: boolean
}

/** The part of it that stands for a function. */
interface Attending extends Background {
  /** Before the last application closes its server, and what else it has. */
  drain(): void
}

/** Of the functions that were given as options, those that work in the background. */
function attendantsOf({ settings, mockUser }: LoadedSettings): Lifecycle[] {
  // Dev mode asks none of them.
  const functions = mockUser ? [] : [settings.opaqueToken, settings.isRevoked]
  return functions.map(lifecycleOf).filter((attendant) => attendant !== undefined)
}

/** A service that uses a function counts once, in however many applications it is installed. */
function attendingTo(attendant: Lifecycle, loaded: LoadedSettings, log: OperatorLog): Attending {
  const accepted = {
    issuers: acceptedIssuers(loaded),
    clockTolerance: loaded.settings.clockTolerance,
  }
  let isOpen = false
  const close = (): void => {
    if (isOpen) attendant.close()
    isOpen = false
  }
  return {
    open() {
      if (!isOpen) {
        attendant.open(
          (reason) => log.error(reason),
          accepted,
          (name) => log.callback(name),
        )
      }
      isOpen = true
    },
    close,
    // A pool that the application ends in a hook waits for the connections that are taken from it.
    drain: close,
    get isReady() {
      return attendant.isReady
    },
  }
}

function acceptedIssuers({ issuers }: LoadedSettings): AcceptedIssuers {
  if (typeof issuers === 'function') return 'dynamic'
  return issuers.flatMap<string | undefined>(({ issuer }) => issuer ?? [undefined])
}
