import {
  ERR_AUTH_RESOURCE_MISSING,
  ERR_AUTH_STEP_UP_REQUIRED,
  ERR_AUTH_TENANT_FORBIDDEN,
  type StepUp,
} from '../../errors.ts'
import { flatString } from '../../platform/runtime/flat-string.ts'
import { keptBytes } from '../../platform/runtime/json-complexity.ts'
import type { AddressedTenants } from '../jwt/addressed-tenants.ts'
import { type Actor, type Login, NO_LOGIN } from '../jwt/registered-claims.ts'
import { dateOf } from '../jwt/token-info.ts'
import { frozenUserInfo, type Resources, type UserInfo } from '../jwt/user-info.ts'
import { EVERY_TENANT } from '../tenants/tenant-name.ts'
import { Authorization, type AuthorizedUser } from './authorization.ts'
import type { Requirement } from './requirement.ts'
import { isResourceId } from './resources.ts'
import {
  type AllowedTenants,
  MAX_KEPT,
  pinnedResources,
  pinnedSize,
  Rights,
  type RightsRules,
} from './rights.ts'
import { DEV_LOGIN, loginFault } from './step-up.ts'

/** The issuer of a user, the end of its rights, and who acts for it. */
interface TokenSubject {
  /** In seconds since the epoch. */
  readonly exp: number
  readonly issuer: string | null
  /** Those who act for the user, the outermost first; empty: the user itself. */
  readonly actors: readonly Actor[]
  /** The verified `sub`, before `mapClaims`; null: none. Absent: nothing was mapped. */
  readonly tokenSub?: string | null
  /** Absent: nobody has logged in, as for work without a request. */
  readonly login?: Login | typeof DEV_LOGIN
  /** The tenants that the token is for. Absent or undefined: any. */
  readonly addressed?: AddressedTenants | undefined
  /** Bytes of the claims in memory. Absent or undefined: measured when they are asked for. */
  readonly size?: number | undefined
}

/** The resources that replace those of the claims, by tenant. */
interface Replacement {
  read(): Resources | undefined
  /** Bytes that they keep alive beside the claims, once they are read. */
  readonly size: number
}

/** Most ids that are looked through one by one: to make a set of them costs more. */
const FEW = 32

/** Bytes of an authorization without the items of its set. */
const AUTHORIZATION = 384

/**
 * A user in a tenant for which it may act, or, if `tenant` is null, outside of all. Its
 * authorization is made for the first who asks: to decide about a new token does not need it.
 */
export class Membership {
  readonly principal: Principal
  readonly tenant: string | null
  readonly #isSuspended: boolean
  #authorization: Authorization | undefined
  #met: Requirement | undefined

  constructor(principal: Principal, tenant: string | null, isSuspended = false) {
    this.principal = principal
    this.tenant = tenant
    this.#isSuspended = isSuspended
  }

  get authorization(): Authorization {
    this.#authorization ??= new Authorization(this.principal, this.tenant, this.#isSuspended)
    return this.#authorization
  }

  /** A requirement that was met once is met again, since neither changes. */
  meets(requirement: Requirement): boolean {
    if (requirement === this.#met) return true
    const { mode, ids } = requirement
    const [everywhere, here] = this.principal.grantedIn(this.tenant)
    const granted =
      everywhere.length + here.length > FEW
        ? this.authorization.resources
        : { has: (id: string) => everywhere.includes(id) || here.includes(id) }
    const holds = (id: string) => this.principal.holds(id, granted)
    const isMet = mode === 'all' ? ids.length > 0 && ids.every(holds) : ids.some(holds)
    if (isMet) this.#met = requirement
    return isMet
  }
}

Object.freeze(Membership.prototype)

/** A user who has proved who it is, and for which tenants it may act. Deeply immutable. */
export class Principal implements AuthorizedUser {
  readonly issuer: string | null
  readonly actor: Actor | null
  readonly actors: readonly Actor[]
  readonly tokenSub: string | null
  readonly isSuperuser: boolean
  /** The tenants that the token is for, of whoever it is; undefined: any. */
  readonly addressed: AddressedTenants | undefined
  readonly #subject: TokenSubject
  readonly #login: Login | typeof DEV_LOGIN
  readonly #claims: UserInfo
  /** The rights that count in the place of those of the claims; null: those of the claims. */
  readonly #resources: Replacement | null
  #userInfo: UserInfo | undefined
  readonly #rights: Rights
  /** The first membership that was asked for; for most users it is the only one. */
  #first: Membership | undefined
  #others: Map<string | null, Membership> | undefined

  /**
   * A user by its own claims, and with the rights that they name.
   *
   * @param pin the tenants for which the issuer may speak
   */
  static of(
    claims: UserInfo,
    subject: TokenSubject,
    rules: RightsRules,
    pin: AllowedTenants = EVERY_TENANT,
  ): Principal {
    const resources = Object.hasOwn(claims, 'resources') ? claims.resources : undefined
    const rights = new Rights(resources, rules, pin)
    if (resources === undefined || pin === EVERY_TENANT) {
      return new Principal(claims, null, subject, rights)
    }
    const replacement = { read: () => pinnedResources(resources, pin), size: pinnedSize(resources) }
    return new Principal(claims, replacement, subject, rights)
  }

  private constructor(
    claims: UserInfo,
    resources: Replacement | null,
    subject: TokenSubject,
    rights: Rights,
  ) {
    this.#claims = claims
    this.#resources = resources
    this.issuer = subject.issuer
    this.actor = subject.actors[0] ?? null
    this.actors = subject.actors
    this.tokenSub = Object.hasOwn(subject, 'tokenSub') ? (subject.tokenSub ?? null) : claims.sub
    this.#login = (Object.hasOwn(subject, 'login') && subject.login) || NO_LOGIN
    this.addressed = Object.hasOwn(subject, 'addressed') ? subject.addressed : undefined
    this.#subject = subject
    this.isSuperuser = rights.isSuperuser
    this.#rights = rights
    Object.freeze(this)
  }

  /**
   * The same user with other rights. They take the place of its own wholly.
   *
   * @param read what the rights were made of, frozen; undefined: there are none
   */
  withRights(rights: Rights, read: () => Resources | undefined): Principal {
    return new Principal(this.#claims, { read, size: 0 }, this.#subject, rights)
  }

  get sub(): string {
    return this.#claims.sub
  }

  /** Made on demand: a right that holds everywhere is repeated in each tenant. */
  get userInfo(): UserInfo {
    this.#userInfo ??=
      this.#resources === null ? frozenUserInfo(this.#claims) : this.#withResources()
    return this.#userInfo
  }

  #withResources(): UserInfo {
    const { resources: _, ...claims } = frozenUserInfo(this.#claims)
    const resources = this.#resources?.read()
    return Object.freeze(resources === undefined ? claims : { ...claims, resources })
  }

  /**
   * @param tenant null: none
   * @throws ERR_AUTH_TENANT_FORBIDDEN
   */
  in(tenant: string | null): Authorization {
    if (tenant !== null && this.addressed?.include(tenant) === false) {
      throw new ERR_AUTH_TENANT_FORBIDDEN('the token is not for the address of this tenant')
    }
    const membership = this.find(tenant)
    if (membership) return membership.authorization
    throw this.tenantRefusal()
  }

  /** Undefined: the user may not act for the tenant. `addressed` is not judged here. */
  find(tenant: string | null): Membership | undefined {
    if (this.#first?.tenant === tenant) return this.#first
    const known = this.#others?.get(tenant)
    if (known) return known
    if (tenant !== null && !this.#rights.mayActFor(tenant)) return undefined
    const membership = new Membership(this, tenant === null ? null : flatString(tenant))
    if (this.#first === undefined) this.#first = membership
    else this.#keep(membership)
    return membership
  }

  #keep(membership: Membership): void {
    if (this.#others === undefined || this.#others.size >= MAX_KEPT - 1) this.#others = new Map()
    this.#others.set(membership.tenant, membership)
  }

  /**
   * Bytes that it keeps alive: the claims, and what has been made of them by then. An estimate,
   * rather too high.
   */
  get keptSize(): number {
    const size = (Object.hasOwn(this.#subject, 'size') && this.#subject.size) || undefined
    const given = (size ?? keptBytes(this.#claims)) + (this.actor ? keptBytes(this.actors) : 0)
    const hasOwn = this.#login !== NO_LOGIN && this.#login !== DEV_LOGIN
    const login = hasOwn ? keptBytes(this.#login) : 0
    const made = (this.#resources?.size ?? 0) + MAX_KEPT * AUTHORIZATION
    return given + login + made + (this.addressed?.keptSize ?? 0)
  }

  get tenants(): ReadonlySet<string> {
    return this.#rights.tenants
  }

  get expiresAt(): Date {
    return dateOf(this.#subject.exp)
  }

  resourcesIn(tenant: string | null): ReadonlySet<string> {
    return this.#rights.in(tenant)
  }

  grantedIn(tenant: string | null): ReturnType<Rights['grantedIn']> {
    return this.#rights.grantedIn(tenant)
  }

  /** Superusers hold every id. Others hold those that they are granted, and what these imply. */
  holds(id: string, granted: Pick<ReadonlySet<string>, 'has'>): boolean {
    if (this.isSuperuser) return isResourceId(id)
    return granted.has(id) || (this.#rights.implied?.isHeld(id, granted) ?? false)
  }

  tenantRefusal(): ERR_AUTH_TENANT_FORBIDDEN {
    return new ERR_AUTH_TENANT_FORBIDDEN(
      this.#rights.explain('the user may not act for the tenant'),
    )
  }

  loginRefusal(wanted: StepUp): ERR_AUTH_STEP_UP_REQUIRED | undefined {
    const reason = loginFault(this.#login, wanted)
    return reason === undefined ? undefined : new ERR_AUTH_STEP_UP_REQUIRED(wanted, reason)
  }

  resourceRefusal(required: readonly string[]): ERR_AUTH_RESOURCE_MISSING {
    return new ERR_AUTH_RESOURCE_MISSING(
      required,
      this.#rights.explain('a required resource is missing'),
    )
  }
}

Object.freeze(Principal.prototype)
