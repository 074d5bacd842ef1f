import type { ERR_AUTH_TOKEN_INVALID } from '../../errors.ts'
import { keptBytes } from '../../platform/runtime/json-complexity.ts'
import { mismatch, tokenRefusal } from './token-refusal.ts'

/** Most addresses that a log shows. */
const SHOWN = 3

/** Addresses of an API, one for each tenant. */
export interface TenantsByAddress {
  /** All of them, with a parameter in the place of the name. */
  readonly pattern: string
  /** Undefined: the tenant has none. */
  of(tenant: string): string | undefined
  /** Undefined: it is no address of a tenant. */
  tenantOf(address: string): string | undefined
}

/** The tenants whose addresses a token names in `aud`: it counts in these only. Immutable. */
export class AddressedTenants {
  readonly #names: ReadonlySet<string>
  readonly #hasAudience: boolean
  readonly #addresses: TenantsByAddress

  /**
   * @param names of the tenants
   * @param hasAudience whether it names an accepted audience too, and so counts without a tenant
   */
  constructor(names: ReadonlySet<string>, hasAudience: boolean, addresses: TenantsByAddress) {
    this.#names = names
    this.#hasAudience = hasAudience
    this.#addresses = addresses
    Object.freeze(this)
  }

  /** @param tenant null: there is none */
  include(tenant: string | null): boolean {
    return tenant === null ? this.#hasAudience : this.#names.has(tenant)
  }

  refusal(tenant: string | null): ERR_AUTH_TOKEN_INVALID {
    if (tenant === null) return tokenRefusal('the token is for addresses of tenants only')
    const named = [...this.#names].slice(0, SHOWN).map((name) => this.#addresses.of(name))
    const texts = mismatch('aud', [this.#addresses.of(tenant)], named)
    return tokenRefusal('the token is not for the address of this tenant', texts)
  }

  /** Bytes that it keeps alive: an estimate, rather too high. */
  get keptSize(): number {
    return keptBytes([...this.#names])
  }
}

Object.freeze(AddressedTenants.prototype)
