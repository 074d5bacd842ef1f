import { EVERY_TENANT } from '../tenants/tenant-name.ts'
import type { Resources } from '../tokens/user-info.ts'
import type { Pin } from './pin.ts'
import { ImmutableSet } from './resource-set.ts'

export interface RightsRules {
  /** Who holds it under `*` passes every requirement and may act for every tenant. */
  readonly superuserResource?: string | undefined
}

const NO_RESOURCES: Resources = Object.freeze({})

/**
 * Most tenants of which a user's rights are kept: it may have thousands, and be kept with thousands
 * of others.
 */
export const MAX_KEPT = 4

/** What a user may do, in each tenant. What is told of it to others is deeply immutable. */
export class Rights {
  readonly isSuperuser: boolean
  readonly #resources: Resources
  readonly #pin: Pin
  /** Why none were told, for the log. */
  readonly #missing: string
  #tenants: ReadonlySet<string> | undefined

  /**
   * @param resources frozen; undefined: none were told
   * @param pin the tenants in which they count
   * @param missing the reason why none were told, for the log
   */
  constructor(
    resources: Resources | undefined,
    { superuserResource }: RightsRules,
    pin: Pin = EVERY_TENANT,
    missing = 'the claim resources is missing',
  ) {
    this.#resources = resources ?? NO_RESOURCES
    this.#pin = pin
    this.#missing = missing
    this.isSuperuser =
      superuserResource !== undefined && this.#everywhere.includes(superuserResource)
  }

  /** The tenants that the user may act for; for a superuser, those that its resources name. */
  get tenants(): ReadonlySet<string> {
    this.#tenants ??= new ImmutableSet(
      Object.keys(this.#resources).filter((key) => this.#counts(key)),
    )
    return this.#tenants
  }

  /** Whether the user may act for a tenant. By own keys only: `constructor` is no tenant. */
  mayActFor(tenant: string): boolean {
    if (this.isSuperuser) return true
    return Object.hasOwn(this.#resources, tenant) && this.#counts(tenant)
  }

  /**
   * The ids that are granted in a tenant, or, for null, where there is none. Made for each tenant
   * when it is asked for: ids for all tenants times a hundred of them are many.
   */
  in(tenant: string | null): ReadonlySet<string> {
    if (tenant === null) return new ImmutableSet(this.#everywhere)
    if (this.#pin === EVERY_TENANT) {
      return new ImmutableSet([...this.#everywhere, ...this.#granted(tenant)])
    }
    if (!this.mayActFor(tenant)) return new ImmutableSet([])
    return new ImmutableSet([...this.#granted(tenant), ...this.#granted(EVERY_TENANT)])
  }

  /**
   * The reason of a refusal, for the log: a server that sends no rights at all is rather set up
   * badly.
   */
  explain(reason: string): string {
    return this.#resources === NO_RESOURCES ? `${reason}: ${this.#missing}` : reason
  }

  /** What is granted where there is no tenant, and in each that there is. */
  get #everywhere(): readonly string[] {
    return this.#pin === EVERY_TENANT ? this.#granted(EVERY_TENANT) : []
  }

  #counts(key: string): boolean {
    return key !== EVERY_TENANT && (this.#pin === EVERY_TENANT || this.#pin.has(key))
  }

  #granted(key: string): readonly string[] {
    return (Object.hasOwn(this.#resources, key) && this.#resources[key]) || []
  }
}

Object.freeze(Rights.prototype)
