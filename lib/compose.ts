import { composeIssuers, externalRights } from './compose-issuers.ts'
import type { LoadedSettings } from './config/load-settings.ts'
import type { Settings } from './config/options.ts'
import { Callers } from './guard/callers.ts'
import { Checks } from './guard/checks.ts'
import { DecisionCounts, publishInternal } from './guard/decision-events.ts'
import type { GuardRules } from './guard/guard.ts'
import { isProbed } from './guard/probe-gate.ts'
import type { Authenticator } from './identity/authentication/authenticator.ts'
import { BearerAuthenticator } from './identity/authentication/bearer-authenticator.ts'
import { DevAuthenticator } from './identity/authentication/dev-authenticator.ts'
import { BEARER, BEARER_OR_DPOP } from './identity/authentication/extract-token.ts'
import type { Issuers } from './identity/authentication/issuers.ts'
import { JwtVerifier } from './identity/authentication/jwt-verifier.ts'
import { OpaqueTokens } from './identity/authentication/opaque-tokens.ts'
import { denyListOf } from './identity/authentication/revocation-check.ts'
import { VerifiedTokens } from './identity/authentication/verified-tokens.ts'
import { ActAs } from './identity/authorization/act-as.ts'
import type { Authorization } from './identity/authorization/authorization.ts'
import { openContexts } from './identity/authorization/current-authorization.ts'
import { asksForProof } from './identity/jwt/confirmation.ts'
import { Possession } from './identity/proofs/possession.ts'
import { localProofTable } from './identity/proofs/proof-table.ts'
import { certificateOfSocket, senderProofs } from './identity/proofs/sender-proofs.ts'
import {
  AnyTenant,
  type KnownTenants,
  ListedTenants,
  TenantsByFunction,
} from './identity/tenants/known-tenants.ts'
import { RemoteTenants } from './identity/tenants/remote-tenants.ts'
import type { OperatorLog } from './operator-log.ts'
import {
  type AcceptedIssuers,
  type Lifecycle,
  lifecycleOf,
} from './platform/callbacks/lifecycle.ts'
import type { PendingRequests } from './platform/callbacks/pending-requests.ts'

/** The parts of one service, in all its applications. */
export interface ServiceParts {
  readonly authenticator: Authenticator
  readonly knownTenants: KnownTenants
  readonly checks: Checks | undefined
  readonly background: readonly Background[]
  /** The functions among the options that work in the background. */
  readonly lifecycles: readonly Lifecycle[]
  /**
   * Parts of the background that end before the last application closes its server: these
   * functions, and the callers. A pool that the application ends in a hook waits for the
   * connections that are taken from it.
   */
  readonly drained: readonly Background[]
  readonly counts: DecisionCounts
  /** Members are undefined if `isRevoked` is no deny list. */
  readonly denyList: Pick<GuardRules, 'denies' | 'watchRevocation'>
  readonly actAs: ActAs
  readonly callers: Callers
  readonly log: OperatorLog
}

export function composeParts(loaded: LoadedSettings, log: OperatorLog): ServiceParts {
  const { settings } = loaded
  const authenticator = composeAuthenticator(loaded, log)
  const knownTenants = composeKnownTenants(settings, log)
  const { tenantsTimeout: timeout } = settings
  const checks =
    settings.checks &&
    new Checks(settings.checks, timeout, (name) => log.callback(`the check ${name}`))
  const lifecycles = lifecyclesOf(loaded)
  const counts = new DecisionCounts()
  const { clockTolerance, asyncContext, isRevoked, confirmation } = settings
  const denyList = denyListOf(isRevoked)
  const callers = new Callers({
    authenticator,
    knownTenants,
    counts,
    clockTolerance,
    asyncContext,
    mustBeBound: confirmation === 'require',
    ...denyList,
  })
  const functions = lifecycles.map((lifecycle) => composeCallback(lifecycle, loaded, log))
  const drained = [...functions, callers]
  return {
    authenticator,
    knownTenants,
    checks,
    background: [authenticator, knownTenants, ...drained],
    lifecycles,
    drained,
    counts,
    denyList,
    actAs: composeActAs(loaded, knownTenants),
    callers,
    log,
  }
}

export function composeAuthenticator(loaded: LoadedSettings, log: OperatorLog): Authenticator {
  const { settings, mockUser } = loaded
  if (mockUser) return new DevAuthenticator(mockUser, loaded.rights)
  const { tokenFrom, isRevoked, tenantsTimeout: timeout, maxTokenLength } = settings
  const tokens = new VerifiedTokens(settings.tokenCacheSize, settings.clockTolerance)
  const { resourcesOf } = settings
  const rights = resourcesOf && externalRights(resourcesOf, loaded, log, hasSeveral(loaded.issuers))
  const issuers = composeIssuers(loaded, { tokens, rights }, log)
  const jwts = new JwtVerifier(issuers, tokens, maxTokenLength)
  const opaqueTokens = composeOpaqueTokens(loaded, { jwts, issuers, tokens }, log)
  return new BearerAuthenticator(
    { issuers, tokens, jwts, opaqueTokens, rights, possession: composePossession(settings, log) },
    {
      schemes: settings.confirmation === 'refuse' ? BEARER : BEARER_OR_DPOP,
      tokenFrom,
      reportTokenFrom: log.callback('tokenFrom'),
      isRevoked,
      reportIsRevoked: log.callback('isRevoked'),
      timeout,
    },
  )
}

function composeOpaqueTokens(
  { settings, issuers }: LoadedSettings,
  known: { readonly jwts: JwtVerifier; readonly issuers: Issuers; readonly tokens: VerifiedTokens },
  log: OperatorLog,
): OpaqueTokens | undefined {
  const { opaqueToken, opaqueMaxAge: maxAge, tenantsTimeout: timeout, maxTokenLength } = settings
  if (opaqueToken === undefined) return undefined
  const report = log.callback('opaqueToken')
  const rules = { opaqueToken, maxAge, timeout, maxTokenLength, report }
  return new OpaqueTokens({ ...rules, hasSeveralIssuers: hasSeveral(issuers) }, known)
}

function composePossession(settings: Settings, log: OperatorLog): Possession | undefined {
  const { confirmation, publicUrl, proofMaxAge: maxAge, tenantsTimeout: timeout } = settings
  if (publicUrl === undefined || !asksForProof(confirmation)) return undefined
  return new Possession({
    maxAge,
    publicUrl,
    proofSeen: settings.proofSeen ?? localProofTable(),
    clientCertificate: settings.clientCertificate ?? certificateOfSocket,
    timeout,
    reportProofSeen: log.callback('proofSeen'),
    reportCertificate: log.callback('clientCertificate'),
    isProbe: isProbed,
  })
}

/**
 * True if tokens may name several issuers. An entry may have several identifiers, or accept any.
 */
function hasSeveral(issuers: LoadedSettings['issuers']): boolean {
  if (typeof issuers === 'function') return true
  return issuers.flatMap(({ issuer }) => issuer ?? ['any', 'other']).length > 1
}

function composeActAs({ settings, rights }: LoadedSettings, knownTenants: KnownTenants): ActAs {
  const { asyncContext } = settings
  if (asyncContext) openContexts()
  const onBegin = ({ userInfo, tenant }: Authorization) =>
    publishInternal({ sub: userInfo.sub, tenant })
  return new ActAs({ ...rights, asyncContext, knownTenants, onBegin })
}

function composeKnownTenants(settings: Settings, log: OperatorLog): KnownTenants {
  const { tenants, devMode, tenantsTimeout: timeout, tenantsMaxAge: maxAge } = settings
  if (tenants === undefined) return new AnyTenant()
  if (typeof tenants === 'function') {
    return new TenantsByFunction(tenants, { timeout, maxAge, report: log.callback('tenants') })
  }
  if (typeof tenants === 'object') {
    return 'ids' in tenants
      ? new ListedTenants(tenants.ids, tenants.suspended)
      : new ListedTenants(tenants)
  }
  // Dev mode fetches no document.
  if (devMode) return new AnyTenant()
  const { keysMaxStale: maxStale, keysRetry: retry, keysCooldown: retryMax } = settings
  const freshness = { timeout, maxAge, maxStale, retry, retryMax }
  return new RemoteTenants(tenants, freshness, log.document('tenants', 'tenants'))
}

export function composeGuardRules(
  { settings, addresses, configFile }: LoadedSettings,
  { authenticator, knownTenants, checks, counts, denyList, log }: ServiceParts,
  app: { readonly waits: PendingRequests; readonly server: object },
): GuardRules {
  return {
    ...settings,
    ...denyList,
    authenticator,
    knownTenants,
    checks,
    counts,
    waits: app.waits,
    timeout: settings.tenantsTimeout,
    reportTenant: log.callback('resolveTenant'),
    hasTenantAddresses: addresses !== undefined,
    senderProofs: senderProofs(settings, app.server),
    configFile,
  }
}

/** A part that begins with the first installation of a service, and ends with its last. */
interface Background {
  open(): void
  close(): void
  readonly isReady: boolean
}

/** The functions among the options that work in the background. Dev mode calls none of them. */
function lifecyclesOf({ settings, mockUser }: LoadedSettings): Lifecycle[] {
  const functions = mockUser ? [] : [settings.opaqueToken, settings.isRevoked]
  return functions.map(lifecycleOf).filter((lifecycle) => lifecycle !== undefined)
}

/** A service that uses a function counts once, however many applications it is installed in. */
function composeCallback(
  lifecycle: Lifecycle,
  { settings, issuers }: LoadedSettings,
  log: OperatorLog,
): Background {
  const accepted: AcceptedIssuers =
    typeof issuers === 'function'
      ? 'dynamic'
      : issuers.flatMap<string | undefined>(({ issuer }) => issuer ?? [undefined])
  const { clockTolerance } = settings
  let isOpen = false
  return {
    open() {
      if (isOpen) return
      lifecycle.open(log, { issuers: accepted, clockTolerance })
      isOpen = true
    },
    close() {
      if (isOpen) lifecycle.close()
      isOpen = false
    },
    get isReady() {
      return lifecycle.isReady
    },
  }
}
