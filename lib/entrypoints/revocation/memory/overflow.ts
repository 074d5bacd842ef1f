import type { Lifecycle } from '../../../platform/callbacks/lifecycle.ts'
import type { Names } from '../entry.ts'
import { type ActiveEntry, userOf } from './active-entry.ts'

/** Most users, and most issuers, that are remembered: beyond them a wider scope is. */
const MOST_SCOPES = 4000

/**
 * The entries of a scope that end last, by the wall clock and by `clock`. They are two where the
 * wall clock was set.
 */
type LastEntries = readonly [wall: ActiveEntry, steady: ActiveEntry]

/**
 * Entries that had no room in memory, by the smallest scope that they may concern: a user, an
 * issuer, or everybody. Until the last one of a scope ends, nobody knows which tokens of it fall.
 */
export class Overflow {
  readonly #accepted: Lifecycle
  readonly #users = new Map<string, LastEntries>()
  readonly #issuers = new Map<string, LastEntries>()
  #everybody: LastEntries | undefined

  constructor(accepted: Lifecycle) {
    this.#accepted = accepted
  }

  get isEmpty(): boolean {
    return this.#users.size + this.#issuers.size === 0 && this.#everybody === undefined
  }

  /** @param scope the smallest that counts; if the entry names none, the next wider one does */
  add(entry: ActiveEntry, scope: 'user' | 'issuer'): void {
    const { user, issuer } = entry
    if (scope === 'user' && user !== null) {
      if (this.#widen(this.#users, user, entry)) return
      if (this.#makeRoom(issuer) && this.#widen(this.#users, user, entry)) return
    }
    if (issuer !== null && this.#widen(this.#issuers, issuer, entry)) return
    this.#everybody = this.#last(this.#everybody, entry)
  }

  failureFor(names: Names): DenyListFailureCode | undefined {
    const lasts = (last: LastEntries | undefined) => last !== undefined && !this.#haveEnded(last)
    const [, , sub, issuer] = names
    const users = [userOf(names), userOf([null, null, sub, null])]
    if (users.some((user) => user !== null && lasts(this.#users.get(user)))) {
      return 'ERR_DENY_LIST_USER_FULL'
    }
    if (issuer !== null && lasts(this.#issuers.get(issuer))) return 'ERR_DENY_LIST_ISSUER_FULL'
    return lasts(this.#everybody) ? 'ERR_DENY_LIST_FULL' : undefined
  }

  sweep(): void {
    for (const scopes of [this.#users, this.#issuers]) {
      for (const [key, last] of scopes) if (this.#haveEnded(last)) scopes.delete(key)
    }
    if (this.#everybody && this.#haveEnded(this.#everybody)) this.#everybody = undefined
  }

  /**
   * The issuer of most users in a full table has one scope in their place, unless the newcomer is
   * of an issuer that has about as many, or one scope already.
   */
  #makeRoom(newcomer: string | null): boolean {
    if (newcomer !== null && this.#issuers.has(newcomer)) return false
    const counts = new Map<string | null, number>()
    for (const [{ issuer }] of this.#users.values()) {
      counts.set(issuer, (counts.get(issuer) ?? 0) + 1)
    }
    let greediest: string | null = null
    let most = (counts.get(newcomer) ?? 0) + 1
    for (const [issuer, count] of counts) {
      if (issuer !== null && count > most) [greediest, most] = [issuer, count]
    }
    if (greediest === null) return false
    for (const [user, last] of this.#users) {
      if (last[0].issuer === greediest && this.#widen(this.#issuers, greediest, ...last)) {
        this.#users.delete(user)
      }
    }
    return true
  }

  #widen(scopes: Map<string, LastEntries>, key: string, ...entries: ActiveEntry[]): boolean {
    const known = scopes.get(key)
    if (known === undefined && scopes.size >= MOST_SCOPES) return false
    for (const entry of entries) scopes.set(key, this.#last(scopes.get(key), entry))
    return true
  }

  #last(known: LastEntries | undefined, entry: ActiveEntry): LastEntries {
    if (known === undefined) return [entry, entry]
    const endsBy = (each: ActiveEntry) => each.endsBy(this.#accepted.clockTolerance)
    const [wall, steady] = known
    return [
      endsBy(wall).wall > endsBy(entry).wall ? wall : entry,
      endsBy(steady).steady > endsBy(entry).steady ? steady : entry,
    ]
  }

  #haveEnded(last: LastEntries): boolean {
    return last.every((entry) => entry.hasEnded(this.#accepted.clockTolerance))
  }
}

const MESSAGES = {
  ERR_DENY_LIST_NOT_GIVEN: 'no service has the deny list itself as isRevoked',
  ERR_DENY_LIST_NOT_LOADED: 'the deny list is not loaded yet',
  ERR_DENY_LIST_STALE: 'the deny list is older than maxStale',
  ERR_DENY_LIST_FULL: 'there are more entries than there is room for',
  ERR_DENY_LIST_ISSUER_FULL: 'there are too many entries of this issuer',
  ERR_DENY_LIST_USER_FULL: 'there are too many entries of this user',
} as const

export type DenyListFailureCode = keyof typeof MESSAGES

export class DenyListFailure extends Error {
  readonly code: DenyListFailureCode

  constructor(code: DenyListFailureCode) {
    super(MESSAGES[code])
    this.code = code
  }
}
