import { inspect } from 'node:util'
import {
  ERR_AUTH_RESOURCE_MISSING,
  ERR_AUTH_TENANT_FORBIDDEN,
  ERR_AUTH_TENANT_INVALID,
} from '../errors.ts'
import { ownText } from '../outside/own-text.ts'
import { EVERY_TENANT, isTenantName } from '../tenants/tenant-name.ts'
import { keptSize, SET_ITEM } from '../tokens/kept-size.ts'
import { dateOf } from '../tokens/numeric-date.ts'
import type { UserInfo } from '../tokens/user-info.ts'
import { isResourceId } from './resource-id.ts'
import { ImmutableSet } from './resource-set.ts'

export interface AuthorizationRules {
  /** Who holds it under `*` passes every requirement and may act for every tenant. */
  readonly superuserResource?: string | undefined
}

type Resources = NonNullable<UserInfo['resources']>

const NO_RESOURCES: Resources = Object.freeze({})

/** Most tenants of which one token's rights are kept: it may name thousands, and be kept with thousands of others. */
const MAX_KEPT = 4

/** Bytes of an authorization without the items of its set. */
const AUTHORIZATION = 384

/** A user who has proved who it is, and for which tenants it may act. Deeply immutable. */
export class Principal {
  readonly userInfo: UserInfo
  readonly #resources: Resources
  readonly #isSuperuser: boolean
  readonly #exp: number
  readonly #authorizations = new Map<string | null, Authorization>()
  #tenants: ReadonlySet<string> | undefined

  /** `exp` in seconds since the epoch. */
  constructor(userInfo: UserInfo, exp: number, rules: AuthorizationRules) {
    this.userInfo = userInfo
    this.#resources = (Object.hasOwn(userInfo, 'resources') && userInfo.resources) || NO_RESOURCES
    this.#exp = exp
    const { superuserResource } = rules
    this.#isSuperuser =
      superuserResource !== undefined && this.granted(EVERY_TENANT).includes(superuserResource)
    Object.freeze(this)
  }

  /**
   * The user's rights in one tenant, or, for null, where there is none.
   *
   * @throws ERR_AUTH_TENANT_FORBIDDEN
   */
  in(tenant: string | null): Authorization {
    const known = this.#authorizations.get(tenant)
    if (known) return known
    if (tenant !== null && !this.#isSuperuser && !this.#mayActFor(tenant)) {
      throw new ERR_AUTH_TENANT_FORBIDDEN(this.explain('the user may not act for the tenant'))
    }
    const authorization = new Authorization(this, tenant, this.#isSuperuser)
    if (this.#authorizations.size >= MAX_KEPT) this.#authorizations.clear()
    this.#authorizations.set(authorization.tenant, authorization)
    return authorization
  }

  /** Bytes that it keeps alive: the claims, and what has been made of them by then. An estimate, rather too high. */
  get keptSize(): number {
    const lists = Object.values(this.#resources)
    const widest = lists.reduce((most, { length }) => Math.max(most, length), 0)
    const rights = SET_ITEM * (this.granted(EVERY_TENANT).length + widest) + AUTHORIZATION
    return keptSize(this.userInfo) + SET_ITEM * lists.length + MAX_KEPT * rights
  }

  /** Resource ids under one key of `resources`. */
  granted(key: string): readonly string[] {
    return (Object.hasOwn(this.#resources, key) && this.#resources[key]) || []
  }

  get tenants(): ReadonlySet<string> {
    this.#tenants ??= new ImmutableSet(
      Object.keys(this.#resources).filter((key) => key !== EVERY_TENANT),
    )
    return this.#tenants
  }

  get expiresAt(): Date {
    return dateOf(this.#exp)
  }

  /** The reason of a refusal, for the log: a server that sends no rights at all is rather set up badly. */
  explain(reason: string): string {
    return this.#resources === NO_RESOURCES ? `${reason}: the claim resources is missing` : reason
  }

  /** By own keys only: `constructor` and its like are no tenants. */
  #mayActFor(tenant: string): boolean {
    return tenant !== EVERY_TENANT && Object.hasOwn(this.#resources, tenant)
  }
}

/**
 * What a user may do in one tenant, or, where `tenant` is null, what it may do everywhere. Deeply immutable.
 */
export class Authorization {
  /** The tenant that these rights are for; null where the request belongs to none. */
  readonly tenant: string | null

  /** Who the request acts as. */
  readonly userInfo: UserInfo

  /** The tenants that the user may act for, as the token names them. */
  readonly tenants: ReadonlySet<string>

  /** Ids granted under `*` and in this tenant, literally; superuser rights add nothing here. */
  readonly resources: ReadonlySet<string>

  /** Whether the user holds `superuserResource` under `*`, and so every id. */
  readonly isSuperuser: boolean

  /** When the rights end: the token's `exp` (RFC 7519 §4.1.4). A new Date at each reading. */
  declare readonly expiresAt: Date

  readonly #principal: Principal

  constructor(principal: Principal, tenant: string | null, isSuperuser: boolean) {
    this.tenant = tenant === null ? null : ownText(tenant)
    this.userInfo = principal.userInfo
    this.tenants = principal.tenants
    this.resources = new ImmutableSet([
      ...principal.granted(EVERY_TENANT),
      ...(tenant === null ? [] : principal.granted(tenant)),
    ])
    this.isSuperuser = isSuperuser
    this.#principal = principal
    Object.defineProperty(this, 'expiresAt', Authorization.#EXPIRES_AT)
    Object.freeze(this)
  }

  /** Of each authorization's own, so that a comparison and a copy see it. */
  static readonly #EXPIRES_AT = {
    enumerable: true,
    get(this: Authorization): Date {
      return this.#principal.expiresAt
    },
  }

  /** Whether the user holds all of the ids. Superusers hold every one. Of none: false. */
  has(...ids: string[]): boolean {
    return ids.length > 0 && ids.every(this.#holds, this)
  }

  /** Whether the user holds at least one of the ids. Superusers hold every one. */
  hasAny(...ids: string[]): boolean {
    return ids.some(this.#holds, this)
  }

  /** @throws ERR_AUTH_RESOURCE_MISSING (403) unless the user holds all of the ids */
  require(...ids: string[]): void {
    if (!this.has(...ids)) this.#refuse(ids)
  }

  /** @throws ERR_AUTH_RESOURCE_MISSING (403) unless the user holds at least one of the ids */
  requireAny(...ids: string[]): void {
    if (!this.hasAny(...ids)) this.#refuse(ids)
  }

  /**
   * The same user in another tenant. Whether that tenant exists is not asked.
   *
   * @throws ERR_AUTH_TENANT_INVALID (400) when the name cannot be a tenant's
   * @throws ERR_AUTH_TENANT_FORBIDDEN (403) when the user may not act for it
   */
  in(tenant: string): Authorization {
    if (!isTenantName(tenant)) throw new ERR_AUTH_TENANT_INVALID('not a tenant name')
    return this.#principal.in(tenant)
  }

  /** What a route that sends the authorization on, or a log that holds it, shows of it. */
  toJSON(): object {
    const { tenant, userInfo, tenants, resources, expiresAt } = this
    return { tenant, userInfo, tenants, resources, expiresAt }
  }

  /** What console.log shows: all of it, with the date that a getter hides. */
  [inspect.custom](): object {
    return { ...this }
  }

  #holds(id: string): boolean {
    return this.isSuperuser ? isResourceId(id) : this.resources.has(id)
  }

  #refuse(ids: readonly string[]): never {
    throw new ERR_AUTH_RESOURCE_MISSING(
      ids,
      this.#principal.explain('a required resource is missing'),
    )
  }
}

Object.freeze(Authorization.prototype)
Object.freeze(Principal.prototype)
