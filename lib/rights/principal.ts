import { ERR_AUTH_RESOURCE_MISSING, ERR_AUTH_TENANT_FORBIDDEN } from '../errors.ts'
import type { Actor } from '../tokens/actor.ts'
import { keptSize } from '../tokens/kept-size.ts'
import { dateOf } from '../tokens/numeric-date.ts'
import type { Resources, UserInfo } from '../tokens/user-info.ts'
import { Authorization, type AuthorizedUser } from './authorization.ts'
import { MAX_KEPT, Rights, type RightsRules } from './rights.ts'

/** By whose word, until when, and by whom somebody acts as who it is. */
export interface Vouched {
  /** In seconds since the epoch. */
  readonly exp: number
  /** The verified `iss`; null: none. */
  readonly issuer: string | null
  /** Who acts for the user; null: the user itself. */
  readonly actor: Actor | null
  /** The verified `sub`, before `mapClaims`; null: none. Absent: nothing was mapped. */
  readonly tokenSub?: string | null
}

/** The ids that a route requires: all of them, or one at least. */
export interface Requirement {
  readonly mode: 'all' | 'any'
  readonly ids: readonly string[]
}

/** Bytes of an authorization without the items of its set. */
const AUTHORIZATION = 384

/** A user who has proved who it is, and for which tenants it may act. Deeply immutable. */
export class Principal implements AuthorizedUser {
  readonly userInfo: UserInfo
  readonly issuer: string | null
  readonly actor: Actor | null
  readonly tokenSub: string | null
  readonly #vouched: Vouched
  readonly #rights: Rights
  /** The first one that was asked for, which for most users is the only one. */
  #first: Authorization | undefined
  #others: Map<string | null, Authorization> | undefined
  /** What the first one has met last. */
  #met: Requirement | undefined

  /** A user by its own claims, and with the rights that they name. */
  static of(userInfo: UserInfo, vouched: Vouched, rules: RightsRules): Principal {
    const resources = Object.hasOwn(userInfo, 'resources') ? userInfo.resources : undefined
    return new Principal(userInfo, vouched, new Rights(resources, rules))
  }

  private constructor(userInfo: UserInfo, vouched: Vouched, rights: Rights) {
    this.userInfo = userInfo
    this.issuer = vouched.issuer
    this.actor = vouched.actor
    this.tokenSub = vouched.tokenSub === undefined ? userInfo.sub : vouched.tokenSub
    this.#vouched = vouched
    this.#rights = rights
    Object.freeze(this)
  }

  /**
   * The same user with other rights. They take the place of its own wholly.
   *
   * @param resources what the rights were made of, frozen; undefined: none were told
   */
  withRights(rights: Rights, resources: Resources | undefined): Principal {
    const { resources: _, ...claims } = this.userInfo
    const userInfo = resources === undefined ? claims : { ...claims, resources }
    return new Principal(Object.freeze(userInfo), this.#vouched, rights)
  }

  /**
   * The user's rights in one tenant, or, for null, where there is none.
   *
   * @throws ERR_AUTH_TENANT_FORBIDDEN
   */
  in(tenant: string | null): Authorization {
    const authorization = this.find(tenant)
    if (authorization) return authorization
    throw this.mayNotAct()
  }

  /** As `in()`; undefined where the user may not act for the tenant. */
  find(tenant: string | null): Authorization | undefined {
    if (this.#first?.tenant === tenant) return this.#first
    const known = this.#others?.get(tenant)
    if (known) return known
    if (tenant !== null && !this.#rights.mayActFor(tenant)) return undefined
    const authorization = new Authorization(this, tenant)
    if (this.#first === undefined) this.#first = authorization
    else this.#keep(authorization)
    return authorization
  }

  #keep(authorization: Authorization): void {
    if (this.#others === undefined || this.#others.size >= MAX_KEPT - 1) this.#others = new Map()
    this.#others.set(authorization.tenant, authorization)
  }

  /**
   * Bytes that it keeps alive: the claims, and what has been made of them by then. An estimate,
   * rather too high.
   */
  get keptSize(): number {
    const told = keptSize(this.userInfo) + keptSize(this.actor)
    return told + this.#rights.keptSize + MAX_KEPT * AUTHORIZATION
  }

  get isSuperuser(): boolean {
    return this.#rights.isSuperuser
  }

  get tenants(): ReadonlySet<string> {
    return this.#rights.tenants
  }

  get expiresAt(): Date {
    return dateOf(this.#vouched.exp)
  }

  resourcesIn(tenant: string | null): ReadonlySet<string> {
    return this.#rights.in(tenant)
  }

  /**
   * Whether one of its authorizations meets a requirement. What was met once is met again, since
   * neither changes.
   */
  meets(authorization: Authorization, requirement: Requirement): boolean {
    const isFirst = authorization === this.#first
    if (isFirst && requirement === this.#met) return true
    const { mode, ids } = requirement
    const isMet = mode === 'all' ? authorization.has(...ids) : authorization.hasAny(...ids)
    if (isFirst && isMet) this.#met = requirement
    return isMet
  }

  /** The refusal where the user may not act for the tenant. */
  mayNotAct(): ERR_AUTH_TENANT_FORBIDDEN {
    return new ERR_AUTH_TENANT_FORBIDDEN(
      this.#rights.explain('the user may not act for the tenant'),
    )
  }

  lacks(required: readonly string[]): ERR_AUTH_RESOURCE_MISSING {
    return new ERR_AUTH_RESOURCE_MISSING(
      required,
      this.#rights.explain('a required resource is missing'),
    )
  }
}

Object.freeze(Principal.prototype)
