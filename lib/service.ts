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
import { auditRoutes, Neighbours } from './guard/boot-audit.ts'
import { addGuard } from './guard/guard.ts'
import { decorateRequest } from './guard/request-decorators.ts'
import { noteGuard } from './guard/scopes.ts'
import { type Stats, statsOf } from './guard/stats.ts'
import {
  EVERYBODY,
  type Invalidation,
  readInvalidation,
} from './identity/authentication/authenticator.ts'
import type { InternalUser } from './identity/authorization/act-as.ts'
import { describeGuard } from './openapi/describe.ts'
import { documentedRoutes } from './openapi/match-routes.ts'
import { OperatorLog } from './operator-log.ts'
import { PendingRequests } from './platform/callbacks/pending-requests.ts'
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
   * @param options what the plugin takes
   * @throws ERR_AUTH_CONFIG_INVALID
   */
  constructor(options: AuthOptions = {}) {
    this.#loaded = loadSettings(options)
    this.#parts = composeParts(this.#loaded, new OperatorLog(() => this.#installations.log))
  }

  /**
   * Guards an application, or a scope of one. Keys are fetched from the first installation on,
   * which neither delays nor fails the boot.
   *
   * @param app the application, or the scope of it that is to be guarded
   * @throws ERR_AUTH_CONFIG_INVALID where the scope, or one around or below it, is guarded already
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
    const rules = composeGuardRules(settings, this.#parts, waits)
    const register = addGuard(app, settings, rules)
    const below = register.early?.map(({ scope }) => scope) ?? []
    const neighbours = new Neighbours(app, below)
    app.decorate<AuthService>('authService', this)
    decorateRequest(app)
    reportBoot(app, this.#loaded, { register, neighbours })
    app.addHook('preClose', async () => {
      waits.end()
      if (!this.#installations.beginClose(app)) return
      for (const part of this.#parts.attending) part.drain()
    })
    app.addHook('onClose', async () => {
      if (this.#installations.remove(app)) this.close()
    })
    this.#installations.add(app, register)
    noteGuard({ scope: app, register, loaded: this.#loaded })
    for (const part of this.#parts.background) part.open()
  }

  /**
   * Whether requests can be decided now: the tenant list is loaded, where there is one, and the
   * keys of each configured issuer of all tenants are usable (where each is pinned: those of one),
   * and a deny list that is `isRevoked` is loaded and not stale.
   */
  isReady(): boolean {
    return this.#parts.background.every(({ isReady }) => isReady)
  }

  /**
   * Fetches keys now, whatever the cooldown.
   *
   * @param issuer whose: its `iss`; not given: those of all configured issuers
   * @throws ERR_AUTH_KEYS_UNAVAILABLE where they cannot be had, or there is no such issuer
   */
  refreshKeys(issuer?: string): Promise<void> {
    return this.#parts.authenticator.refreshKeys(issuer)
  }

  /**
   * Makes a change count at once in this process: what the application's functions have told is
   * asked anew, and so is what `tenants` has said.
   *
   * @param what whose; not given: everybody's. An issuer without a `sub`: all that is known of it.
   * `{ tenant }`: what `tenants` has said of it
   * @throws TypeError where it has no member of its own, one that is `undefined`, or another one:
   * it must not mean everybody; and where `tenant` is not alone
   */
  forget(what?: Invalidation): void {
    const whose = what === undefined ? EVERYBODY : readInvalidation(what)
    const { authenticator, knownTenants } = this.#parts
    const { tenant } = whose
    if (tenant === undefined) authenticator.forget(whose)
    if (tenant !== undefined || whose === EVERYBODY) knownTenants.forget(tenant)
  }

  /**
   * Runs work without a request, such as a job of a queue, as a user of one tenant: below it,
   * `currentAuthorization()` tells who that is. Neither `resourcesOf` nor `isRevoked` is asked.
   *
   * @param who frozen copies of its members are taken
   * @returns what the work returns
   * @throws ERR_AUTH_CONFIG_INVALID where the option `asyncContext` is off
   * @throws TypeError where a member of `who` is missing, malformed or unknown
   * @throws ERR_AUTH_TENANT_INVALID (400), ERR_AUTH_TENANT_UNKNOWN (404),
   * ERR_AUTH_TENANTS_UNAVAILABLE (503) as for a request
   * @example await auth.actAs({ sub: 'job:invoices', tenant, resources: ['order:read'] }, bill)
   */
  actAs<T>(who: InternalUser, work: () => T | Promise<T>): Promise<T> {
    return this.#parts.internalWork.run(who, work)
  }

  /**
   * What the service knows of itself by now: decisions, its cache and documents, ages in seconds.
   * Nothing is asked to find it.
   */
  stats(): Stats {
    return statsOf(this.#parts)
  }

  /**
   * Every route of one guarded application, or of all, with its policy. Complete from ready on.
   *
   * @param app the Fastify instance that was given to `install`; not given: all of them
   */
  routes(app?: object): ListedRoute[] {
    return this.#installations.registers(app).flatMap((register) => listRoutes(register))
  }

  /**
   * A copy of an OpenAPI document with what the guard does: the bearer scheme, and each operation's
   * `security`, `tenant` parameter and refusals. An operation of several routes is open if all are.
   *
   * @param document an OpenAPI 3 document, as @fastify/swagger makes it; it stays as it is
   * @param app the Fastify instance that was given to `install`; not given: all of them
   * @returns the copy
   * @example transformObject: ({ openapiObject }) => app.authService.openapi(openapiObject)
   */
  openapi<Document extends object>(document: Document, app?: object): Document {
    const { settings } = this.#loaded
    const routes = this.#installations
      .registers(app)
      .flatMap((register) => documentedRoutes(register, settings))
    return describeGuard(document, routes, settings)
  }

  /** Ends all background work. Called when the last application that it is installed in closes. */
  close(): void {
    for (const part of this.#parts.background) part.close()
  }
}

/** The applications that a service is installed in, until they have closed. */
class Installations {
  readonly #registers = new Map<FastifyInstance, RouteRegistry>()
  readonly #closing = new Set<FastifyInstance>()

  add(app: FastifyInstance, register: RouteRegistry): void {
    this.#registers.set(app, register)
  }

  /** @param app not given: all of them */
  registers(app?: object): RouteRegistry[] {
    return [...this.#registers]
      .filter(([installed]) => app === undefined || installed === app)
      .map(([, register]) => register)
  }

  /** Of the first application: the service has none of its own. */
  get log(): FastifyBaseLogger | undefined {
    const [app] = this.#registers.keys()
    return app?.log
  }

  /** Told when an application begins to close. Returns whether all of them have begun to. */
  beginClose(app: FastifyInstance): boolean {
    this.#closing.add(app)
    return this.#closing.size === this.#registers.size
  }

  /** Returns whether it was the last one. */
  remove(app: FastifyInstance): boolean {
    this.#closing.delete(app)
    this.#registers.delete(app)
    return this.#registers.size === 0
  }
}

/** What is looked at when the application is ready. */
interface Inspected {
  readonly register: RouteRegistry
  readonly neighbours: Neighbours
}

/**
 * Tells the operator what should be known: of the settings at once, of the routes when the
 * application is ready, of the network when it listens. What opens a door stops the boot.
 */
function reportBoot(
  app: FastifyInstance,
  loaded: LoadedSettings,
  { register, neighbours }: Inspected,
): void {
  const warn = (warning: string) => app.log.warn(`tenant auth: ${warning}`)
  app.addHook('onReady', async () => {
    register.compile()
    auditRoutes(register, neighbours, loaded.settings)
  })
  app.addHook('onListen', async () => {
    const warning = listeningWarning(loaded, app.addresses())
    if (warning !== undefined) warn(warning)
  })
  for (const warning of bootWarnings(loaded)) warn(warning)
}
