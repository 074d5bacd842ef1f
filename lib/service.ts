import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerBase,
} from 'fastify'
import { composeGuardRules, composeParts, type ServiceParts } from './compose.ts'
import { bootWarnings, listeningWarning } from './config/boot-warnings.ts'
import { type LoadedSettings, loadSettings } from './config/load-settings.ts'
import type { AuthOptions } from './config/options.ts'
import { auditRoutes, PluginOrder, undeclaredProblems } from './guard/boot-audit.ts'
import type { Caller, Credentials } from './guard/callers.ts'
import { addGuard } from './guard/guard.ts'
import { decorateRequest } from './guard/request-decorators.ts'
import { registerGuard } from './guard/scopes.ts'
import { type Stats, statsOf } from './guard/stats.ts'
import {
  EVERYBODY,
  type Invalidation,
  readInvalidation,
} from './identity/authentication/authenticator.ts'
import type { InternalUser } from './identity/authorization/act-as.ts'
import { senderProofs } from './identity/proofs/sender-proofs.ts'
import { describeGuard } from './openapi/describe.ts'
import { documentedRoutes } from './openapi/match-routes.ts'
import { OperatorLog } from './operator-log.ts'
import { PendingRequests } from './platform/callbacks/pending-requests.ts'
import { isWithin } from './routes/fastify-scope.ts'
import { type ListedRoute, listRoutes } from './routes/route-list.ts'
import type { RouteRegistry } from './routes/route-registry.ts'

/**
 * The service behind the plugin, for an application with several Fastify instances that share keys
 * and caches.
 *
 * @example
 * const auth = new AuthService(options)
 * await auth.install(publicApi)
 * await auth.install(adminApi)
 */
export class AuthService {
  readonly #loaded: LoadedSettings
  readonly #parts: ServiceParts
  readonly #installations = new Installations()

  /**
   * @param options those of the plugin
   * @throws ERR_AUTH_CONFIG_INVALID
   */
  constructor(options: AuthOptions = {}) {
    this.#loaded = loadSettings(options)
    this.#parts = composeParts(this.#loaded, new OperatorLog(() => this.#installations.log))
  }

  /**
   * Guards an application, or a scope of one. Keys are fetched from the first installation on. This
   * neither delays nor fails the boot.
   *
   * @param app the application, or the scope of it that is to be guarded
   * @throws ERR_AUTH_CONFIG_INVALID if the scope, or one around or below it, is guarded already
   */
  install<
    Server extends RawServerBase,
    Request extends RawRequestDefaultExpression<Server>,
    Reply extends RawReplyDefaultExpression<Server>,
    Logger extends FastifyBaseLogger,
    TypeProvider extends FastifyTypeProvider,
  >(app: FastifyInstance<Server, Request, Reply, Logger, TypeProvider>): Promise<void>
  async install(app: FastifyInstance): Promise<void> {
    const { settings } = this.#loaded
    const waits = new PendingRequests()
    const rules = composeGuardRules(this.#loaded, this.#parts, { waits, server: app.server })
    const registry = addGuard(app, settings, rules)
    const { authenticator } = this.#parts
    registerGuard({ scope: app, registry, loaded: this.#loaded, authenticator, waits })
    const pluginOrder = new PluginOrder(app, registry.early?.map(({ scope }) => scope) ?? [])
    app.decorate<AuthService>('authService', this)
    decorateRequest(app)
    const warn = (warning: string) => app.log.warn(`tenant auth: ${warning}`)
    app.addHook('onReady', async () => {
      registry.compile(() => undeclaredProblems(registry, settings))
      auditRoutes(registry, pluginOrder, settings)
    })
    app.addHook('onListen', async () => {
      const warning = listeningWarning(this.#loaded, app.addresses())
      if (warning !== undefined) warn(warning)
    })
    for (const warning of bootWarnings(this.#loaded)) warn(warning)
    app.addHook('preClose', async () => {
      waits.end()
      if (!this.#installations.beginClose(app)) return
      for (const part of this.#parts.drained) part.close()
    })
    app.addHook('onClose', async () => {
      if (this.#installations.remove(app)) this.close()
    })
    this.#installations.add(registry)
    for (const part of this.#parts.background) part.open()
  }

  /**
   * Whether requests can be decided now: a configured tenant list is loaded, the keys of each
   * configured issuer of all tenants are usable (if there is no such issuer: those of any), and a
   * deny list that is `isRevoked` is loaded and not stale.
   */
  isReady(): boolean {
    return this.#parts.background.every(({ isReady }) => isReady)
  }

  /**
   * Fetches keys now, whatever the cooldown.
   *
   * @param issuer the `iss` of their issuer; not given: all configured issuers
   * @throws ERR_AUTH_KEYS_UNAVAILABLE if they cannot be had, or there is no such issuer
   */
  refreshKeys(issuer?: string): Promise<void> {
    return this.#parts.authenticator.refreshKeys(issuer)
  }

  /**
   * Makes a change count at once in this process: the cached answers of the application's functions
   * are dropped, those of `tenants` too.
   *
   * @param what the user to forget; not given: everybody. An issuer without a `sub`: all its users.
   * `{ tenant }`: the answer of `tenants` about it
   * @throws TypeError if it has a member that is `undefined`, inherited, a getter or unknown,
   * because it must not mean everybody; and if `tenant` is not alone
   */
  forget(what?: Invalidation): void {
    const whose = what === undefined ? EVERYBODY : readInvalidation(what)
    const { authenticator, knownTenants } = this.#parts
    const { tenant } = whose
    if (tenant === undefined) authenticator.forget(whose)
    if (tenant !== undefined || whose === EVERYBODY) knownTenants.forget(tenant)
  }

  /**
   * Runs work without a request, such as a job of a queue, as a user of one tenant. Below it,
   * `currentAuthorization()` returns that user's authorization. Neither `resourcesOf` nor
   * `isRevoked` is called.
   *
   * @param who frozen copies of its members are taken
   * @returns what the work returns
   * @throws ERR_AUTH_CONFIG_INVALID if the option `asyncContext` is off
   * @throws TypeError if a member of `who` is missing, malformed or unknown
   * @throws ERR_AUTH_TENANT_INVALID (400), ERR_AUTH_TENANT_UNKNOWN (404),
   * ERR_AUTH_TENANTS_UNAVAILABLE (503) as for a request
   * @example await auth.actAs({ sub: 'job:invoices', tenant, resources: ['order:read'] }, bill)
   */
  actAs<T>(who: InternalUser, work: () => T | Promise<T>): Promise<T> {
    return this.#parts.actAs.run(who, work)
  }

  /**
   * Lets a caller in that is no request, such as a socket of another server, or the message of a
   * queue: by the same rules, caches and bounds. Neither `tokenFrom` nor `resolveTenant` is called.
   * In dev mode it is the mock user.
   *
   * @returns its authorization, and a signal that is aborted when it would not be let in any more
   * @throws TypeError if a member of `who` is wrong, `undefined`, inherited or unknown, and before
   * the first `install`
   * @throws the errors of a guarded request. A token that is bound to its sender (RFC 7800) is 401,
   * unless `confirmation` is `ignore`. Where that is `require`, each token is. After `close` 503
   * ERR_AUTH_KEYS_UNAVAILABLE
   * @example const { authorization } = await auth.authenticate({ token, tenant: 'acme' })
   */
  authenticate(who: Credentials): Promise<Caller> {
    return this.#parts.callers.authenticate(who)
  }

  /**
   * The figures of the service: decisions, its cache, and its documents with ages in seconds. To
   * find them, no function is called.
   */
  stats(): Stats {
    return statsOf(this.#parts)
  }

  /**
   * Every route of one guarded application, or of all, with its policy. Complete from ready on.
   *
   * @param app the Fastify instance that was given to `install`, or one around it; not given: all
   * of them
   */
  routes(app?: object): ListedRoute[] {
    return this.#installations.registries(app).flatMap(listRoutes)
  }

  /**
   * A copy of an OpenAPI document that describes the guard: the schemes of tokens, and each
   * operation's `security`, `tenant` parameter and refusals. An operation of several routes is open
   * if all are.
   *
   * @param document an OpenAPI 3 document, as @fastify/swagger makes it; it stays as it is
   * @param app the Fastify instance that was given to `install`, or one around it; not given: all
   * of them
   * @returns the copy
   * @example transformObject: ({ openapiObject }) => app.authService.openapi(openapiObject)
   */
  openapi<Document extends object>(document: Document, app?: object): Document {
    const { settings } = this.#loaded
    const registries = this.#installations.registries(app)
    const routes = registries.flatMap((registry) => documentedRoutes(registry, settings))
    const proofs = senderProofs(settings, registries[0]?.scope.server ?? {})
    return describeGuard(document, routes, { ...settings, senderProofs: proofs })
  }

  /** Ends all background work. Called when the last application that it is installed in closes. */
  close(): void {
    for (const part of this.#parts.background) part.close()
    this.#parts.checks?.close()
  }
}

/** The applications that a service is installed in, until they have closed. */
class Installations {
  readonly #registries = new Map<FastifyInstance, RouteRegistry>()
  readonly #closing = new Set<FastifyInstance>()

  add(registry: RouteRegistry): void {
    this.#registries.set(registry.scope, registry)
  }

  /** @param app not given: all of them */
  registries(app?: object): RouteRegistry[] {
    const all = [...this.#registries.values()]
    return app === undefined ? all : all.filter(({ scope }) => isWithin(app, scope))
  }

  /** The log of the first application: the service has none of its own. */
  get log(): FastifyBaseLogger | undefined {
    const [app] = this.#registries.keys()
    return app?.log
  }

  /** Returns whether all applications have begun to close. */
  beginClose(app: FastifyInstance): boolean {
    this.#closing.add(app)
    return this.#closing.size === this.#registries.size
  }

  /** Returns whether it was the last one. */
  remove(app: FastifyInstance): boolean {
    this.#closing.delete(app)
    this.#registries.delete(app)
    return this.#registries.size === 0
  }
}
