import { inspect } from 'node:util'
import {
  type ERR_AUTH_RESOURCE_MISSING,
  type ERR_AUTH_STEP_UP_REQUIRED,
  ERR_AUTH_TENANT_INVALID,
  type StepUp,
} from '../../errors.ts'
import type { Actor } from '../jwt/registered-claims.ts'
import type { UserInfo } from '../jwt/user-info.ts'
import { isTenantName } from '../tenants/tenant-name.ts'
import { readStepUp, type StepUpDeclaration } from './step-up.ts'

/** The members that are the same in each tenant. */
type OfUser =
  | 'userInfo'
  | 'issuer'
  | 'tokenSub'
  | 'actor'
  | 'actors'
  | 'tenants'
  | 'isSuperuser'
  | 'expiresAt'

/** The user of an authorization: a `Principal`, whose file needs this one. */
export interface AuthorizedUser extends Pick<Authorization, OfUser> {
  /** Ids granted in one tenant, or, for null, where there is none. */
  resourcesIn(tenant: string | null): ReadonlySet<string>
  /** True: an id is among those granted, or follows from them. */
  holds(id: string, granted: Pick<ReadonlySet<string>, 'has'>): boolean
  /** @throws ERR_AUTH_TENANT_FORBIDDEN (403) when the user may not act for the tenant */
  in(tenant: string): Authorization
  resourceRefusal(required: readonly string[]): ERR_AUTH_RESOURCE_MISSING
  /** Undefined: its login is what is wanted. */
  loginRefusal(wanted: StepUp): ERR_AUTH_STEP_UP_REQUIRED | undefined
}

/**
 * The rights of a user in one tenant, or, if `tenant` is null, those that it has everywhere. Deeply
 * immutable.
 */
export class Authorization {
  /** The tenant that these rights are for; null where the request belongs to none. */
  readonly tenant: string | null

  /** The user that the request acts as. */
  declare readonly userInfo: UserInfo

  /**
   * Who has issued the token: its verified `iss` (RFC 7519 §4.1.1); null in dev mode, and if the
   * token has none. `sub` is unique within one issuer only: a user is the pair of both.
   */
  readonly issuer: string | null

  /**
   * The user as the token names it: its verified `sub`, before `mapClaims`; null if the token
   * has none. `issuer` and `tokenSub` are what a deny list revokes. In dev mode it is the user's
   * `sub`.
   */
  readonly tokenSub: string | null

  /**
   * Who acts for the user: the outermost `act` of the token (RFC 8693 §4.1); null if the token
   * has none, and in dev mode.
   */
  readonly actor: Actor | null

  /**
   * The whole chain of `act`, the outermost first, at most eight; empty if `actor` is null. Who
   * stands behind the outermost is for information only: it is the word of the issuer.
   */
  readonly actors: readonly Actor[]

  /**
   * The tenants that the user may act for, of those that the issuer may speak for. Where each
   * tenant has an address, the user may need another token for some.
   */
  declare readonly tenants: ReadonlySet<string>

  /** Ids granted under `*` and in this tenant, literally; superuser rights add nothing here. */
  readonly resources: ReadonlySet<string>

  /** True: the tenant is suspended. Of `in()` false: it does not ask. */
  readonly suspended: boolean

  /** True: the user holds `superuserResource` under `*`, and so every id. */
  readonly isSuperuser: boolean

  /** When the rights end: the token's `exp` (RFC 7519 §4.1.4). A new Date at each reading. */
  declare readonly expiresAt: Date

  readonly #user: AuthorizedUser

  constructor(user: AuthorizedUser, tenant: string | null, suspended: boolean) {
    this.tenant = tenant
    Object.defineProperty(this, 'userInfo', Authorization.#USER_INFO)
    this.issuer = user.issuer
    this.tokenSub = user.tokenSub
    this.actor = user.actor
    this.actors = user.actors
    this.resources = user.resourcesIn(tenant)
    this.suspended = suspended
    this.isSuperuser = user.isSuperuser
    this.#user = user
    Object.defineProperty(this, 'tenants', Authorization.#TENANTS)
    Object.defineProperty(this, 'expiresAt', Authorization.#EXPIRES_AT)
    Object.freeze(this)
  }

  /**
   * Own properties of each authorization, so that comparisons and copies see them. Few read them.
   */
  static readonly #TENANTS = {
    enumerable: true,
    get(this: Authorization): ReadonlySet<string> {
      return this.#user.tenants
    },
  }

  static readonly #USER_INFO = {
    enumerable: true,
    get(this: Authorization): UserInfo {
      return this.#user.userInfo
    },
  }

  static readonly #EXPIRES_AT = {
    enumerable: true,
    get(this: Authorization): Date {
      return this.#user.expiresAt
    },
  }

  /** True: the user holds all of the ids. Superusers hold every one. Of none: false. */
  has(this: Authorization, ...ids: string[]): boolean {
    return ids.length > 0 && ids.every((id) => this.#user.holds(id, this.resources))
  }

  /** True: the user holds at least one of the ids. Superusers hold every one. */
  hasAny(this: Authorization, ...ids: string[]): boolean {
    return ids.some((id) => this.#user.holds(id, this.resources))
  }

  /** @throws ERR_AUTH_RESOURCE_MISSING (403) unless the user holds all of the ids */
  require(this: Authorization, ...ids: string[]): void {
    if (!this.has(...ids)) throw this.#user.resourceRefusal(ids)
  }

  /** @throws ERR_AUTH_RESOURCE_MISSING (403) unless the user holds at least one of the ids */
  requireAny(this: Authorization, ...ids: string[]): void {
    if (!this.hasAny(...ids)) throw this.#user.resourceRefusal(ids)
  }

  /**
   * A login of that kind, and not older, by the token's own `acr` and `auth_time` (RFC 9470).
   * Superusers need one too. Below `actAs` there is none; in dev mode any is there.
   *
   * @example authorization.stepUp({ acr: ['phr', 'phrh'], maxAge: 60 })
   * @throws ERR_AUTH_STEP_UP_REQUIRED (401) unless the user has logged in so
   * @throws TypeError if it wants something else, or nothing
   */
  stepUp(this: Authorization, wanted: StepUpDeclaration): void {
    const stepUp = readStepUp(wanted)
    if (stepUp === undefined) {
      throw new TypeError('stepUp() takes acr (in the characters of a scope), maxAge, or both')
    }
    const refusal = this.#user.loginRefusal(stepUp)
    if (refusal !== undefined) throw refusal
  }

  /**
   * The same user in another tenant. Whether that tenant exists is not asked.
   *
   * @throws ERR_AUTH_TENANT_INVALID (400) when the name cannot be a tenant's
   * @throws ERR_AUTH_TENANT_FORBIDDEN (403) when the user may not act for it, or the token is not
   * for its address
   */
  in(this: Authorization, tenant: string): Authorization {
    if (!isTenantName(tenant)) throw new ERR_AUTH_TENANT_INVALID('not a tenant name in in()')
    return this.#user.in(tenant)
  }

  /** The part that a route sends on, or a log shows. A response schema knows lists, and no sets. */
  toJSON(this: Authorization): object {
    const { tenant, userInfo, issuer, tokenSub, actor, expiresAt } = this
    const [tenants, resources] = [[...this.tenants], [...this.resources]]
    return { tenant, userInfo, issuer, tokenSub, actor, tenants, resources, expiresAt }
  }

  /** All of it for console.log, with the values of getters. */
  [inspect.custom](): object {
    return { ...this }
  }
}

Object.freeze(Authorization.prototype)
