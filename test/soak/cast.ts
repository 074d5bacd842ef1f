import type { Issuer } from './issuer.ts'
import type { Random } from './random.ts'
import { AUDIENCE, SUPERUSER } from './settings.ts'
import type { Claims, Jwt, Opaque, Resources, Secret } from './token.ts'

/** Every tenant of the soak. */
export const TENANTS = ['acme', 'acme-test', 'globex', 'initech', 'umbrella'] as const

const IDS = ['menu:read', 'menu:write', 'report:read'] as const

/** Users of one issuer at one time. */
const USERS = 6

/** Tokens that a user has at one time. */
const TOKENS = 4

/** A user, for as long as it has a part. */
export interface User {
  readonly issuer: Issuer
  readonly sub: string
  /** What its tokens say; undefined: nothing. */
  readonly resources: Resources | undefined
  readonly tokens: Jwt[]
  readonly opaque: Opaque
  readonly secrets: Secret[]
}

/** Who asks: users come, have tokens made, and go. */
export class Cast {
  readonly #random: Random
  readonly #issuers: readonly Issuer[]
  #users: User[] = []
  #serial = 0

  constructor(issuers: readonly Issuer[], random: Random) {
    this.#issuers = issuers
    this.#random = random
  }

  get users(): readonly User[] {
    return this.#users
  }

  pick(random: Random): User {
    return random.pick(this.#users)
  }

  /** A user of the first issuer, whose tokens may be signed with a secret. */
  pickOfFirst(random: Random): User {
    return random.pick(this.#users.filter(({ issuer }) => issuer === this.#issuers[0]))
  }

  /** The next one, and the one that goes for it. */
  next(): { readonly come: User; readonly gone: User | undefined } {
    this.#serial += 1
    const issuer =
      this.#issuers[this.#serial % this.#issuers.length] ?? this.#random.pick(this.#issuers)
    const come: User = {
      issuer,
      sub: `user-${this.#serial}`,
      resources: this.#random.chance(0.05) ? undefined : this.rights(this.#random),
      tokens: [],
      secrets: [],
      opaque: { kind: 'opaque', text: `opaque-${this.#serial}-${this.#random.below(2 ** 30)}` },
    }
    this.#users.push(come)
    const isFull = this.#users.length > USERS * this.#issuers.length
    return { come, gone: isFull ? this.#users.shift() : undefined }
  }

  /** What some user may do. */
  rights(random: Random): Resources {
    const tenants = TENANTS.filter(() => random.chance(0.5))
    const ids = () => IDS.filter(() => random.chance(0.8))
    const resources = Object.fromEntries(tenants.map((tenant) => [tenant, ids()]))
    if (random.chance(0.25)) resources['*'] = ids()
    return random.chance(0.1) ? { ...resources, '*': [SUPERUSER] } : resources
  }

  /** A token of that user: mostly one that was used before. */
  tokenOf(user: User, random: Random): Jwt {
    const isNew = user.tokens.length === 0 || random.chance(0.1)
    if (!isNew) return random.pick(user.tokens)
    // Some servers go on signing with the key before for a while.
    const made = user.issuer.sign(this.claimsOf(user, random), random.chance(0.15) ? 1 : 0)
    user.tokens.push(made)
    if (user.tokens.length > TOKENS) user.tokens.shift()
    return made
  }

  claimsOf({ issuer, sub, resources }: User, random: Random): Claims {
    const now = Math.floor(Date.now() / 1000)
    return {
      iss: issuer.trusted.issuer,
      aud: AUDIENCE,
      sub,
      jti: `${sub}-${random.below(2 ** 30)}`,
      sid: `${sub}-session-${random.below(3)}`,
      iat: now - random.below(10),
      exp: now + random.below(90) - 5,
      ...(random.chance(0.1) && { nbf: now + random.below(6) - 2 }),
      ...(random.chance(0.8) && { acr: random.chance(0.8) ? 'phr' : 'pwd' }),
      ...(random.chance(0.8) && { auth_time: now - random.below(40) + 4 }),
      ...(resources !== undefined && { resources }),
    }
  }
}
