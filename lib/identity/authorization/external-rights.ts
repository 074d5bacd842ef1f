import { ERR_AUTH_RESOURCES_UNAVAILABLE } from '../../errors.ts'
import { CachedCallback } from '../../platform/callbacks/cached-callback.ts'
import type { ReportFailure } from '../../platform/callbacks/call-with-timeout.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { clock } from '../../platform/runtime/clock.ts'
import { withoutStack } from '../../platform/runtime/error.ts'
import { flatString } from '../../platform/runtime/flat-string.ts'
import { keptBytes } from '../../platform/runtime/json-complexity.ts'
import { after, attempt, type MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import type { TokenNames } from '../jwt/registered-claims.ts'
import { tokenRefusal } from '../jwt/token-refusal.ts'
import type { Resources } from '../jwt/user-info.ts'
import type { Principal } from './principal.ts'
import { type ResourcesOf, readResources, type TokenUser } from './resources.ts'
import {
  type AllowedTenants,
  MAX_KEPT,
  pinnedResources,
  pinnedSize,
  Rights,
  type RightsRules,
} from './rights.ts'

export interface ExternalRightsRules extends RightsRules {
  readonly resourcesOf: ResourcesOf
  readonly timeout: number
  /** Seconds that an answer is kept, from its question on. */
  readonly maxAge: number
  readonly report?: ReportFailure
  /** With users of several issuers, those of one hold half of the places at most. */
  readonly hasSeveralIssuers?: boolean
}

/** The user of a verified token, by the token's word. */
interface ProvedUser {
  readonly principal: Principal
  readonly names: TokenNames
  /** The tenants for which the token's issuer may speak. */
  readonly tenants: AllowedTenants
}

/** Most users whose rights are kept, and most that are kept as not known. */
const MAX_USERS = 10_000

/** Bytes that may be kept alive for a user on average. */
const MEAN_SIZE = 16 * 1024

/** Seconds for which a user is kept as unknown. */
const UNKNOWN_FOR = 2

/** Seconds that a refusal by kept rights stands before they are asked for anew. */
const REFUSES_FOR = 2

/** Most questions at one time. */
const MAX_OPEN = 64

/** Rights of each user of each issuer, from the application. A token's own do not count. */
export class ExternalRights {
  #resourcesOf: ResourcesOf
  readonly #answers: CachedCallback<Resources | null, UserRights>
  /** Keys by the token's principal: a new one for each request would cost more than the answer. */
  readonly #keys = new WeakMap<Principal, string>()

  constructor(rules: ExternalRightsRules) {
    const { timeout, maxAge, superuserResource, implied, report } = rules
    const shareOf = rules.hasSeveralIssuers === true ? { shareOf: issuerIn } : {}
    this.#resourcesOf = rules.resourcesOf
    this.#answers = new CachedCallback<Resources | null, UserRights>({
      ask: (key) => {
        const resourcesOf = this.#resourcesOf
        return resourcesOf(JSON.parse(key))
      },
      read: (answer) => (answer === null ? null : readResources(answer)),
      toValue: (resources, _key, _before, askedAt) =>
        new UserRights(resources, { superuserResource, implied }, lookedAt(askedAt)),
      refuse: (reason) =>
        withoutStack(() => new ERR_AUTH_RESOURCES_UNAVAILABLE(1, `resourcesOf ${reason}`)),
      timeout,
      keptFor: (rights) => (rights.isKnown ? maxAge : UNKNOWN_FOR),
      maxKept: MAX_USERS,
      weight: {
        most: MAX_USERS * MEAN_SIZE,
        of: (rights, key) => rights.keptSize + 2 * key.length,
      },
      refusals: { is: (rights) => !rights.isKnown, maxKept: MAX_USERS },
      report,
      line: { places: MAX_OPEN, ...shareOf },
    })
  }

  /** From now on this function is asked. Cached answers of the one before stay. */
  askBy(resourcesOf: ResourcesOf): void {
    this.#resourcesOf = resourcesOf
  }

  open(): void {
    this.#answers.open()
  }

  close(): void {
    this.#answers.close()
  }

  /** Asks anew for the rights of one user, of a `sub`, of an issuer, or of all. */
  forget({ issuer, sub }: { readonly issuer?: string | null; readonly sub?: string }): void {
    const head = issuer === undefined ? '' : `{"issuer":${JSON.stringify(issuer)},`
    const tail = sub === undefined ? '' : `,"sub":${JSON.stringify(sub)}}`
    // Exact: within a JSON text each quote is escaped.
    this.#answers.forget((key) => key.startsWith(head) && key.endsWith(tail))
  }

  /**
   * The user with the rights from the application; a promise only if these have to be asked for,
   * and then one of `waits`.
   *
   * @throws ERR_AUTH_TOKEN_INVALID if the token does not name its user
   * @throws ERR_AUTH_RESOURCES_UNAVAILABLE
   */
  of({ principal, names, tenants }: ProvedUser, waits: PendingRequests): MaybePromise<Principal> {
    const key = this.#keys.get(principal) ?? this.#makeKey(principal, names)
    return after(this.#answers.get(key, waits), (rights) => rights.of(principal, tenants))
  }

  /**
   * The user with newer rights than those by which it would be refused. Undefined: these are new,
   * or there are no newer ones now. A promise only if they have to be asked for.
   *
   * @param used the user with the rights of the refusal
   */
  renewed(
    used: Principal,
    { principal, names, tenants }: ProvedUser,
    waits: PendingRequests,
  ): MaybePromise<Principal | undefined> {
    const refusing = sources.get(used)
    if (refusing === undefined || isNew(refusing)) return undefined
    const key = this.#keys.get(principal) ?? this.#makeKey(principal, names)
    const known = this.#answers.fresh(key)
    // Another request has asked since.
    if (known !== undefined && isNew(known)) return known.of(principal, tenants)
    const noNewer = () => {
      refusing.lookedAt = clock.now()
      return undefined
    }
    return attempt(
      () => this.#answers.getAnew(key, waits),
      (newer) => (newer === refusing ? noNewer() : newer.of(principal, tenants)),
      noNewer,
    )
  }

  #makeKey(principal: Principal, { issuer, sub }: TokenNames): string {
    // Users without a name would share their rights.
    if (sub === null || sub === '') throw tokenRefusal('resourcesOf needs the claim sub')
    // A database that is asked in UTF-8 takes half a character for another one.
    if (/\p{Surrogate}/u.test(sub)) throw tokenRefusal('the claim sub is no whole text')
    const user: TokenUser = { issuer, sub }
    const key = JSON.stringify(user)
    this.#keys.set(principal, key)
    return key
  }
}

/** Users without an issuer have a share, too. */
function issuerIn(key: string): string {
  const { issuer }: TokenUser = JSON.parse(key)
  return issuer ?? ''
}

/**
 * A refusal is as old as its question. A function that takes longer than that would be asked
 * without end: its answers rest from when they came.
 */
function lookedAt(askedAt: number): number {
  const now = clock.now()
  return now - askedAt < REFUSES_FOR * 1000 ? askedAt : now
}

function isNew({ lookedAt }: UserRights): boolean {
  return clock.now() - lookedAt < REFUSES_FOR * 1000
}

/** The rights that each principal was given, to ask anew for those by which it is refused. */
const sources = new WeakMap<Principal, UserRights>()

/** Bytes of an answer without its resources. */
const OWN = 1024

/** The rights of one user, from the application. */
export class UserRights {
  /** When they were asked for, or newer ones were not to be had: a reading of `clock`. */
  lookedAt: number
  readonly #resources: Resources | undefined
  readonly #rules: RightsRules
  /** Those for the pin that was asked for last: one issuer has one, as long as its rules stay. */
  #shared: SharedRights | undefined

  /** @param resources frozen; null: the application does not know the user */
  constructor(resources: Resources | null, rules: RightsRules, lookedAt = clock.now()) {
    this.lookedAt = lookedAt
    this.#resources = resources ?? undefined
    this.#rules = rules
  }

  get isKnown(): boolean {
    return this.#resources !== undefined
  }

  /**
   * A user with these rights, in the place of those of its token.
   *
   * @param pin the tenants for which the token's issuer may speak
   */
  of(principal: Principal, pin: AllowedTenants): Principal {
    if (this.#shared?.pin !== pin) {
      this.#shared = new SharedRights(this, this.#resources, this.#rules, pin)
    }
    return this.#shared.of(principal)
  }

  /** Bytes that it keeps alive in time, without the principals: as if its issuer were pinned. */
  get keptSize(): number {
    if (this.#resources === undefined) return OWN
    return OWN + keptBytes(this.#resources) + pinnedSize(this.#resources)
  }
}

/**
 * Rights with all that the tokens of one user share: a user of thousands of tenants may have
 * thousands of tokens.
 */
class SharedRights extends Rights {
  readonly pin: AllowedTenants
  readonly #source: UserRights
  readonly #resources: Resources | undefined
  #pinned: Resources | undefined
  readonly #ids = new Map<string | null, ReadonlySet<string>>()
  /** By the principal of each token, and kept no longer than that. */
  #principals = new WeakMap<Principal, Principal>()

  constructor(
    source: UserRights,
    resources: Resources | undefined,
    rules: RightsRules,
    pin: AllowedTenants,
  ) {
    super(resources, rules, pin, 'resourcesOf does not know the user')
    this.pin = pin
    this.#source = source
    this.#resources = resources
  }

  of(principal: Principal): Principal {
    const known = this.#principals.get(principal)
    if (known !== undefined) return known
    const made = principal.withRights(this, () => this.#read())
    this.#principals.set(principal, made)
    sources.set(made, this.#source)
    return made
  }

  #read(): Resources | undefined {
    if (this.#resources === undefined) return undefined
    this.#pinned ??= pinnedResources(this.#resources, this.pin)
    return this.#pinned
  }

  override in(tenant: string | null): ReadonlySet<string> {
    const known = this.#ids.get(tenant)
    if (known) return known
    const ids = super.in(tenant)
    if (this.#ids.size >= MAX_KEPT) {
      this.#ids.clear()
      // The principals would keep alive what is let go of.
      this.#principals = new WeakMap()
    }
    this.#ids.set(tenant === null ? null : flatString(tenant), ids)
    return ids
  }
}
