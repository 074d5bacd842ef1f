import type { Resources } from '../jwt/user-info.ts'
import { EVERY_TENANT } from '../tenants/tenant-name.ts'
import { ImmutableSet } from './immutable-set.ts'
import type { ImpliedIds } from './implied-ids.ts'

export interface RightsRules {
  /** Its holders under `*` pass every requirement, and may act for every tenant. */
  readonly superuserResource?: string | undefined
  /** Undefined: no id implies another one. */
  readonly implied?: ImpliedIds | undefined
}

const NO_RESOURCES: Resources = Object.freeze({})

const NONE: readonly string[] = Object.freeze([])

/**
 * Most tenants of which a user's rights are kept: it may have thousands, and be kept with thousands
 * of others.
 */
export const MAX_KEPT = 4

/** All that others get of it is deeply immutable. */
export class Rights {
  readonly isSuperuser: boolean
  readonly implied: ImpliedIds | undefined
  readonly #resources: Resources
  readonly #pin: AllowedTenants
  /** The reason why there are none, for the log. */
  readonly #missing: string
  #tenants: ReadonlySet<string> | undefined

  /**
   * @param resources frozen; undefined: there are none
   * @param pin the tenants in which they count
   * @param missing the reason why there are none, for the log
   */
  constructor(
    resources: Resources | undefined,
    { superuserResource, implied }: RightsRules,
    pin: AllowedTenants = EVERY_TENANT,
    missing = 'the claim resources is missing',
  ) {
    this.#resources = resources ?? NO_RESOURCES
    this.implied = implied
    this.#pin = pin
    this.#missing = missing
    this.isSuperuser =
      superuserResource !== undefined &&
      pin === EVERY_TENANT &&
      this.#granted(EVERY_TENANT).includes(superuserResource)
  }

  /** The tenants that the user may act for; for a superuser, those that its resources name. */
  get tenants(): ReadonlySet<string> {
    this.#tenants ??= new ImmutableSet(
      Object.keys(this.#resources).filter((key) => this.#counts(key)),
    )
    return this.#tenants
  }

  /** By own keys only: `constructor` is no tenant. */
  mayActFor(tenant: string): boolean {
    if (this.isSuperuser) return true
    return Object.hasOwn(this.#resources, tenant) && this.#counts(tenant)
  }

  /**
   * The ids that are granted in a tenant; for null: without a tenant. Made for a tenant when it is
   * asked for, since the ids of thousands of tenants are many.
   */
  in(tenant: string | null): ReadonlySet<string> {
    const [everywhere, here] = this.grantedIn(tenant)
    return new ImmutableSet([...everywhere, ...here])
  }

  /** The same ids as two lists: those granted everywhere, and those granted here alone. */
  grantedIn(tenant: string | null): readonly [readonly string[], readonly string[]] {
    const everywhere = this.#granted(EVERY_TENANT)
    if (this.#pin === EVERY_TENANT) {
      return [everywhere, tenant === null ? NONE : this.#granted(tenant)]
    }
    // A right in every tenant counts in the tenants of the pin only.
    return tenant !== null && this.mayActFor(tenant)
      ? [this.#granted(tenant), everywhere]
      : [NONE, NONE]
  }

  /**
   * The reason of a refusal, for the log. It says if there are no rights at all: then the server is
   * likely to be set up badly.
   */
  explain(reason: string): string {
    return this.#resources === NO_RESOURCES ? `${reason}: ${this.#missing}` : reason
  }

  #counts(key: string): boolean {
    return key !== EVERY_TENANT && (this.#pin === EVERY_TENANT || this.#pin.has(key))
  }

  #granted(key: string): readonly string[] {
    return (Object.hasOwn(this.#resources, key) && this.#resources[key]) || NONE
  }
}

Object.freeze(Rights.prototype)

/** The tenants that an issuer may speak for; `*`: every one. */
export type AllowedTenants = '*' | ReadonlySet<string>

/**
 * The rights that count by the word of an issuer that speaks for these tenants. Rights in other
 * tenants are removed. A right in every tenant becomes one in each of these that the user has, so
 * that it counts in no other tenant, and not without a tenant. It is looked at once, however many
 * tenants there are.
 *
 * @returns a frozen copy, or the same rights if nothing is pinned
 */
export function pinnedResources(resources: Resources, tenants: AllowedTenants): Resources {
  if (tenants === EVERY_TENANT) return resources
  const granted = new Map(Object.entries(resources))
  const everywhere = new Set(granted.get(EVERY_TENANT))
  const shared = Object.freeze([...everywhere])
  const served = [...granted]
    .filter(([tenant]) => tenant !== EVERY_TENANT && tenants.has(tenant))
    .map(([tenant, ids]) => {
      const own = [...new Set(ids)].filter((id) => !everywhere.has(id))
      return [tenant, own.length === 0 ? shared : Object.freeze([...own, ...shared])] as const
    })
  return Object.freeze(Object.fromEntries(served))
}

/** Bytes of what `pinnedResources` repeats in each tenant at most: what is granted everywhere. */
export function pinnedSize(resources: Resources): number {
  const lists = new Map(Object.entries(resources))
  return 8 * lists.size * (lists.get(EVERY_TENANT)?.length ?? 0)
}
