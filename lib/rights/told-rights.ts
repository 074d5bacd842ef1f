import { keptBytes } from '../outside/crowded.ts'
import type { Resources } from '../tokens/user-info.ts'
import { type Pin, pinnedResources, pinnedSize } from './pin.ts'
import type { Principal } from './principal.ts'
import type { RightsRules } from './rights.ts'
import { SharedRights } from './shared-rights.ts'

/** Bytes of what is told, without its resources. */
const OWN = 1024

/** The reason of a refusal, for the log. */
const UNKNOWN = 'resourcesOf does not know the user'

/** What is made of the resources for an issuer that may speak for these tenants. */
interface Made {
  readonly pin: Pin
  readonly rights: SharedRights
  /** For the principals of all tokens, made for the first that is looked at. */
  read(): Resources | undefined
}

/**
 * What the application has told of one user. The principals of the user's tokens are kept with it,
 * and each of them no longer than its token. They share what is made of the resources: a user of
 * thousands of tenants may have thousands of tokens.
 */
export class ToldRights {
  readonly #resources: Resources | undefined
  readonly #rules: RightsRules
  #made: Made | undefined
  #turn = 0
  #principals = new WeakMap<Principal, Principal>()

  /** @param resources frozen; null: the application does not know the user */
  constructor(resources: Resources | null, rules: RightsRules) {
    this.#resources = resources ?? undefined
    this.#rules = rules
  }

  /** Whether the application knows the user. */
  get isKnown(): boolean {
    return this.#resources !== undefined
  }

  /**
   * A user with these rights, in the place of those of its token.
   *
   * @param pin the tenants for which the token's issuer may speak
   */
  of(principal: Principal, pin: Pin): Principal {
    const { rights, read } = this.#madeFor(pin)
    if (rights.turn !== this.#turn) this.#letGo(rights.turn)
    const known = this.#principals.get(principal)
    if (known !== undefined) return known
    const made = principal.withRights(rights, read)
    this.#principals.set(principal, made)
    return made
  }

  /** Bytes that it keeps alive in time, without the principals: as if its issuer were pinned. */
  get keptSize(): number {
    if (this.#resources === undefined) return OWN
    return OWN + keptBytes(this.#resources) + pinnedSize(this.#resources)
  }

  #madeFor(pin: Pin): Made {
    if (this.#made?.pin === pin) return this.#made
    const told = this.#resources
    let resources: Resources | undefined
    const read = () => {
      if (told !== undefined) resources ??= pinnedResources(told, pin)
      return resources
    }
    const rights = new SharedRights(told, this.#rules, pin, UNKNOWN)
    this.#made = { pin, rights, read }
    this.#letGo(rights.turn)
    return this.#made
  }

  /** Principals made before would keep alive what the rights have let go of. */
  #letGo(turn: number): void {
    this.#turn = turn
    this.#principals = new WeakMap()
  }
}
