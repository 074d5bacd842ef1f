import * as Type from '@sinclair/typebox'
import type { FastifyInstance, FastifyRegisterOptions, FastifyReply } from 'fastify'
import type { LoadedSettings } from './config/load-settings.ts'
import { entryPointOptions, type OptionReader } from './config/option-reader.ts'
import { Callable, CodeSwitch } from './config/option-types.ts'
import { withoutRegisterOptions } from './config/problems.ts'
import { showValue } from './config/redact.ts'
import { AuthError, ERR_AUTH_CONFIG_INVALID, ERR_AUTH_ISSUERS_UNAVAILABLE } from './errors.ts'
import { type InstalledGuard, installedGuards } from './guard/scopes.ts'
import type { IssuerEntry } from './identity/authentication/issuer.ts'
import { proofAlgorithms } from './identity/jwks/algorithms.ts'
import { senderProofs } from './identity/proofs/sender-proofs.ts'
import { metadataPath } from './identity/tenants/tenant-addresses.ts'
import { EVERY_TENANT, readTenant } from './identity/tenants/tenant-name.ts'
import { OperatorLog } from './operator-log.ts'
import { CachedCallback } from './platform/callbacks/cached-callback.ts'
import { unexpected } from './platform/http/failure.ts'
import { withoutStack } from './platform/runtime/error.ts'
import type { MaybePromise } from './platform/runtime/maybe-promise.ts'
import { ownProperty } from './platform/runtime/own-property.ts'
import { isWithin } from './routes/fastify-scope.ts'

/** The options of `resourceMetadata`. */
export interface ResourceMetadataOptions {
  /**
   * The scopes that clients may ask for (RFC 9728 §2 `scopes_supported`): a list of different ones,
   * in the characters of RFC 6750 §3. Not given: the document names none.
   */
  readonly scopes?: readonly string[]

  /**
   * Whether documents name issuers that may speak for some tenants only. Where each tenant has an
   * address of its own, its document names those that may speak for it. Beside a function in
   * `issuers`: boot error.
   * @default true
   */
  readonly publishIssuers?: boolean

  /**
   * Returns the issuers that may speak for a tenant, the preferred one first. Required with a
   * function in `issuers` where each tenant has an address of its own, and given there only. Called
   * with any name, because the documents are open to everybody: a name that is no tenant should get
   * what a tenant without an issuer of its own gets. Limited by `tenantsTimeout`; late, thrown, or
   * no list of strings: 503 ERR_AUTH_ISSUERS_UNAVAILABLE. Not called in dev mode.
   */
  readonly issuersOf?: IssuersOf
}

/** Returns the issuers that may speak for a tenant. */
export type IssuersOf = (tenant: string) => readonly string[] | Promise<readonly string[]>

const MEMBERS = {
  scopes: Type.Optional(
    // RFC 6749 §3.3.
    Type.Array(Type.String({ pattern: '^[!#-[\\]-~]+$' }), {
      minItems: 1,
      uniqueItems: true,
      expected: 'a list of different scopes, in the characters of RFC 6750',
    }),
  ),
  publishIssuers: CodeSwitch(true),
  issuersOf: Type.Optional(Callable<IssuersOf>()),
}

/**
 * Adds the document from which clients learn whose tokens the API accepts (RFC 9728 §2), as a
 * `noauth` GET route at the well-known address of the guard's option `resource` (§3.1). It is made
 * of the configuration, so everybody gets the same bytes. Where each tenant has an address of its
 * own, each has a document, whether it exists or not.
 *
 * @example
 * await app.register(tenantAuth, { issuer, resource: 'https://api.example.com/mcp' })
 * await app.register(resourceMetadata, { scopes: ['menu:read'] })
 * @throws ERR_AUTH_CONFIG_INVALID at boot: without a guard that is there before it, without the
 * option `resource`, in a scope with a prefix, for a bad option
 */
export async function resourceMetadata(
  app: FastifyInstance,
  given: FastifyRegisterOptions<ResourceMetadataOptions>,
): Promise<void> {
  const { resource, guard } = protectedResource(app)
  const { loaded, scope } = guard
  const options = readOptions(withoutRegisterOptions(given), loaded)
  const documentOf = (address: string, servers: readonly string[]) =>
    JSON.stringify({
      resource: address,
      // A member without values is left out (RFC 9728 §3.2).
      authorization_servers: servers.length > 0 ? servers : undefined,
      scopes_supported: options.scopes,
      // Tokens in a body or a query are not read. The RFC has no name for other places.
      bearer_methods_supported: ['header'],
      ...boundTokens(loaded, scope.server),
    })
  const answer = (reply: FastifyReply, document: string) =>
    reply.type('application/json').send(document)
  // A colon would begin a parameter.
  const url = metadataPath(resource).replaceAll(':', '::')
  const config = { noauth: true } as const
  const { addresses, settings } = loaded
  if (addresses === undefined) {
    const document = documentOf(resource, authorizationServers(app, options, loaded))
    app.get(url, { config }, async (_request, reply) => answer(reply, document))
    return
  }
  const { issuers } = loaded
  const serversOf =
    typeof issuers === 'function'
      ? serversFromFunction(app, options, guard)
      : serversFromConfig(app, issuers, options, loaded)
  const { tenantParameter } = settings
  const ofTenants = url.replace(`/::${tenantParameter}`, `/:${tenantParameter}`)
  app.get(ofTenants, { config }, async ({ params }, reply) => {
    const tenant = readTenant(ownProperty(Object(params), tenantParameter))
    if (tenant instanceof AuthError) throw tenant
    const address = addresses.of(tenant)
    if (address === undefined) return reply.callNotFound()
    return answer(reply, documentOf(address, await serversOf(tenant)))
  })
}

type Options = ReturnType<OptionReader<typeof MEMBERS>['finish']>

function readOptions(given: object, { settings, addresses }: LoadedSettings): Options {
  const reader = entryPointOptions('resourceMetadata', given, MEMBERS)
  const areAsked = typeof settings.issuers === 'function'
  const place = 'a function in issuers and an address for each tenant beside it'
  if (areAsked && addresses !== undefined) {
    if (!reader.has('issuersOf')) reader.refuseMissing('issuersOf', 'the issuers are not known')
  } else if (reader.has('issuersOf')) {
    reader.refuse('issuersOf', place, 'none')
  }
  if (areAsked && reader.has('publishIssuers')) {
    reader.refuse('publishIssuers', 'a list of issuers beside it', 'a function')
  }
  return reader.finish()
}

/** @throws ERR_AUTH_CONFIG_INVALID without a guard that has a `resource`, and with a prefix */
function protectedResource(app: FastifyInstance): {
  readonly resource: string
  readonly guard: InstalledGuard
} {
  const guard = installedGuards(app).find(({ scope }) => isWithin(scope, app))
  if (guard === undefined) throw misplaced('a scope that is guarded already', 'no guard')
  const { resource } = guard.loaded.settings
  if (resource === undefined) throw misplaced('the option resource of the guard', 'none')
  const { prefix } = app
  if (prefix === '') return { resource, guard }
  // The well-known address would move.
  const hint = 'register it without, and the routes that have a prefix in a scope below'
  throw misplaced('a scope without a prefix', `${showValue(prefix)}: ${hint}`)
}

function misplaced(expected: string, found: string): ERR_AUTH_CONFIG_INVALID {
  return new ERR_AUTH_CONFIG_INVALID(
    `resourceMetadata: expected ${expected}, found ${found} (code)`,
  )
}

/** The ways to prove bound tokens (RFC 9728 §2). A member that says no is left out. */
function boundTokens({ settings }: LoadedSettings, server: object) {
  const { dpop, certificate } = senderProofs(settings, server)
  return {
    ...(certificate && { tls_client_certificate_bound_access_tokens: true }),
    ...(dpop && { dpop_signing_alg_values_supported: proofAlgorithms }),
    // A token that is bound to a certificate alone will do, too.
    ...(settings.confirmation === 'require' &&
      !certificate && { dpop_bound_access_tokens_required: true }),
  }
}

/** The issuers of a tenant's document. Whether the tenant exists is not asked. */
type ServersOf = (tenant: string) => MaybePromise<readonly string[]>

/** A tenant's own issuers come first, since clients take the first one. */
function serversFromConfig(
  app: FastifyInstance,
  issuers: readonly IssuerEntry[],
  { publishIssuers }: Options,
  loaded: LoadedSettings,
): ServersOf {
  const shared = issuers.filter(({ tenants }) => tenants === EVERY_TENANT)
  const pinned = publishIssuers ? issuers.filter((entry) => !shared.includes(entry)) : []
  if (shared.length + pinned.length === 0) warnOfNone(app, loaded)
  const own = new Map<string, string[]>()
  for (const { tenants, issuer = [] } of pinned) {
    for (const tenant of tenants) own.set(tenant, [...(own.get(tenant) ?? []), ...issuer])
  }
  const all = shared.flatMap(({ issuer = [] }) => issuer)
  return (tenant) => [...(own.get(tenant) ?? []), ...all]
}

/** Most questions at one time: strangers ask. */
const MOST_OPEN = 16

/** Requests for one tenant share a question. Answers are not kept. */
function serversFromFunction(
  app: FastifyInstance,
  { issuersOf = () => [] }: Options,
  { loaded, waits }: InstalledGuard,
): ServersOf {
  const answers = new CachedCallback<readonly string[]>({
    ask: issuersOf,
    read: readServers,
    toValue: (servers) => servers,
    refuse: (reason) =>
      withoutStack(() => new ERR_AUTH_ISSUERS_UNAVAILABLE(1, `issuersOf ${reason}`)),
    report: new OperatorLog(() => app.log).callback('issuersOf'),
    timeout: loaded.settings.tenantsTimeout,
    keptFor: () => 0,
    line: { places: MOST_OPEN },
  })
  app.addHook('preClose', async () => answers.close())
  return (tenant) => answers.get(tenant, waits)
}

const isIssuer = (server: string) => /^\S+$/.test(server)

/** A copy. @throws Unusable */
function readServers(answer: unknown): readonly string[] {
  const servers: readonly unknown[] = Array.isArray(answer) ? [...answer] : [undefined]
  if (servers.every((server) => typeof server === 'string') && servers.every(isIssuer))
    return servers
  throw unexpected('the answer', 'a list of issuers', answer)
}

/**
 * The issuers of the one document. One that serves some tenants only is a customer's, unless there
 * is no other. Those of a function are not known here.
 */
function authorizationServers(
  app: FastifyInstance,
  { publishIssuers }: Options,
  loaded: LoadedSettings,
): readonly string[] {
  const issuers = typeof loaded.issuers === 'function' ? [] : loaded.issuers
  const isOnly = publishIssuers && issuers.length === 1
  const servers = issuers
    .filter(({ tenants }) => isOnly || tenants === EVERY_TENANT)
    .flatMap(({ issuer = [] }) => issuer)
  if (servers.length === 0) warnOfNone(app, loaded)
  return servers
}

function warnOfNone(app: FastifyInstance, { settings }: LoadedSettings): void {
  if (settings.devMode) return
  app.log.warn(
    'tenant auth: no issuer serves every tenant, so resourceMetadata names no authorization server',
  )
}
