import { ERR_AUTH_TENANT_FORBIDDEN } from '../errors.ts'
import { EVERY_TENANT } from '../tenants/tenant-name.ts'
import { keptSize, SET_ITEM } from '../tokens/kept-size.ts'
import { dateOf } from '../tokens/numeric-date.ts'
import type { UserInfo } from '../tokens/user-info.ts'
import { Authorization, type AuthorizedUser } from './authorization.ts'
import { ImmutableSet } from './resource-set.ts'

export interface AuthorizationRules {
  /** Who holds it under `*` passes every requirement and may act for every tenant. */
  readonly superuserResource?: string | undefined
}

/** By whose word, and until when, somebody is who it is. */
export interface Vouched {
  /** In seconds since the epoch. */
  readonly exp: number
  /** The verified `iss`; null: none. */
  readonly issuer: string | null
}

type Resources = NonNullable<UserInfo['resources']>

const NO_RESOURCES: Resources = Object.freeze({})

/**
 * Most tenants of which one token's rights are kept: it may name thousands, and be kept with
 * thousands of others.
 */
const MAX_KEPT = 4

/** Bytes of an authorization without the items of its set. */
const AUTHORIZATION = 384

/** A user who has proved who it is, and for which tenants it may act. Deeply immutable. */
export class Principal implements AuthorizedUser {
  readonly userInfo: UserInfo
  readonly #resources: Resources
  readonly #isSuperuser: boolean
  readonly issuer: string | null
  readonly #exp: number
  readonly #authorizations = new Map<string | null, Authorization>()
  #tenants: ReadonlySet<string> | undefined

  constructor(userInfo: UserInfo, { exp, issuer }: Vouched, rules: AuthorizationRules) {
    this.userInfo = userInfo
    this.issuer = issuer
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
    const authorization = this.find(tenant)
    if (authorization) return authorization
    throw new ERR_AUTH_TENANT_FORBIDDEN(this.explain('the user may not act for the tenant'))
  }

  /** As `in()`; undefined where the user may not act for the tenant. */
  find(tenant: string | null): Authorization | undefined {
    const known = this.#authorizations.get(tenant)
    if (known) return known
    if (tenant !== null && !this.#isSuperuser && !this.#mayActFor(tenant)) return undefined
    const authorization = new Authorization(this, tenant, this.#isSuperuser)
    if (this.#authorizations.size >= MAX_KEPT) this.#authorizations.clear()
    this.#authorizations.set(authorization.tenant, authorization)
    return authorization
  }

  /**
   * Bytes that it keeps alive: the claims, and what has been made of them by then. An estimate,
   * rather too high.
   */
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

  /**
   * The reason of a refusal, for the log: a server that sends no rights at all is rather set up
   * badly.
   */
  explain(reason: string): string {
    return this.#resources === NO_RESOURCES ? `${reason}: the claim resources is missing` : reason
  }

  /** By own keys only: `constructor` and its like are no tenants. */
  #mayActFor(tenant: string): boolean {
    return tenant !== EVERY_TENANT && Object.hasOwn(this.#resources, tenant)
  }
}

Object.freeze(Principal.prototype)
