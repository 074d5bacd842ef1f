import { ERR_AUTH_REVOCATION_UNAVAILABLE } from '../../errors.ts'
import { WATCH, type WatchRevocation } from '../../identity/authentication/revocation-check.ts'
import { isOpaque, noteOutlives, type TokenInfo } from '../../identity/jwt/token-info.ts'
import type { UserInfo } from '../../identity/jwt/user-info.ts'
import { LIFECYCLE, Lifecycle } from '../../platform/callbacks/lifecycle.ts'
import {
  changeReporter,
  type DocumentState,
  DocumentStatus,
} from '../../platform/http/document-status.ts'
import { Unusable } from '../../platform/http/failure.ts'
import { clock } from '../../platform/runtime/clock.ts'
import { errorCode, isThrown, withoutStack } from '../../platform/runtime/error.ts'
import { Alarm } from '../../platform/runtime/timer.ts'
import type { DenyListRules, DenyListSource } from './deny-list-options.ts'
import { type DenyEntry, type KeptEntry, readAddedEntry, readEntry } from './entry.ts'
import { EntryStore } from './memory/entry-store.ts'
import { DenyListFailure, type DenyListFailureCode } from './memory/overflow.ts'
import { failureOf, inTime, Poller } from './poller.ts'

/**
 * A deny list, for the option `isRevoked`: returns whether an entry fits a token, and throws if
 * that is not known. Several services may have one list. It begins with the first installation of
 * them, and ends with the last.
 */
export interface DenyList {
  (userInfo: UserInfo, token: TokenInfo): boolean
  /**
   * Refuses the tokens that an entry fits: in this process at once, even if the entry cannot be
   * stored for the others, and in each other process as soon as it has asked for changes.
   *
   * @throws TypeError if it is no entry, and if it names a `sub` or `sid` without `issuer` although
   * the services that have the list accept several issuers
   * @throws ERR_AUTH_REVOCATION_UNAVAILABLE if the entry was perhaps not stored: add it again. It
   * never will be in PostgreSQL if a name has U+0000 or half of a surrogate pair: then only an
   * entry without that name, such as one of the `issuer`, reaches the other processes
   */
  add(entry: DenyEntry): Promise<void>
  /** There may be changes: they are asked for now. Does nothing if no service has the list. */
  wake(): void
  /**
   * Asks for changes, and resolves when all entries that were stored before this call count here.
   * For tests and scripts.
   *
   * @throws ERR_AUTH_REVOCATION_UNAVAILABLE
   */
  ready(): Promise<void>
  /** How many entries are in memory. */
  size(): number
}

/** @param source undefined: the list of this process alone */
export function denyListFunction<Cursor>(
  rules: DenyListRules,
  source?: DenyListSource<Cursor>,
): DenyList {
  const core = new RevokedTokens(rules, source)
  const list = Object.assign(
    (_userInfo: UserInfo, token: TokenInfo): boolean => core.isRevoked(token),
    {
      add: (entry: DenyEntry) => core.add(entry),
      wake: () => core.wake(),
      ready: () => core.ready(),
      size: () => core.size,
    },
  )
  const watch: WatchRevocation = (token, onRevoked) => core.watch(token, onRevoked)
  // Not enumerable: both are of no use to those who look at the function.
  return Object.defineProperties(list, {
    [LIFECYCLE]: { value: core.lifecycle },
    [WATCH]: { value: watch },
  })
}

/** Milliseconds between two looks for entries that have ended. */
const SWEEP_EVERY = 60_000

/** The entries in memory, and the work that keeps them up to date. */
class RevokedTokens<Cursor> {
  readonly #rules: DenyListRules
  readonly #source: DenyListSource<Cursor> | undefined
  readonly lifecycle = new Lifecycle(this)
  readonly #store: EntryStore
  readonly #poller: Poller<Cursor> | undefined
  readonly #status: DocumentStatus
  readonly #sweep = new Alarm(() => this.#sweepEntries())
  /** Why it was full, as far as that was logged. */
  readonly #loggedFull = new Set<DenyListFailureCode>()
  #hasLoggedLongLife = false

  constructor(rules: DenyListRules, source?: DenyListSource<Cursor>) {
    this.#rules = rules
    this.#source = source
    this.#store = new EntryStore(rules, this.lifecycle)
    const maxStale = rules.whenStale === 'admit' ? Number.POSITIVE_INFINITY : 0
    const ages = { maxAge: rules.maxStale, maxStale }
    this.#status = new DocumentStatus(ages, changeReporter('denyList', 'denyList'))
    if (source === undefined) return
    this.#poller = new Poller(source, rules, this.#store, {
      onFailure: (error) => {
        const reason = this.#reasonOf('changes', error)
        this.#status.failed(reason)
        this.lifecycle.logFailure(`the deny list cannot be read (${reason})`)
      },
      onSuccess: (at) => {
        this.#status.fetched(at)
        this.lifecycle.logSuccess()
      },
      onNotice: (notice) => this.lifecycle.logFailure(notice),
    })
  }

  begin(): void {
    this.#poller?.begin()
    this.#sweepEntries()
  }

  end(): void {
    this.#poller?.end()
    this.#sweep.stop()
  }

  get isReady(): boolean {
    return this.#staleness === undefined
  }

  /** Undefined: it is the list of this process alone. */
  state(): DocumentState | undefined {
    return this.#source && this.#status.state
  }

  get size(): number {
    return this.#store.size
  }

  isRevoked(token: TokenInfo): boolean {
    const staleness = this.#staleness
    // A revocation stays true, however old it is.
    if (this.#store.has(token)) return true
    if (!isOpaque(token) && livesTooLong(token, this.#rules.maxLifetime)) {
      this.#logLongLife()
      noteOutlives(token)
      return true
    }
    const failure = staleness ?? this.#store.failureFor(token)
    if (failure !== undefined) this.#refuse(failure)
    return false
  }

  /** Calls a function once as soon as an entry fits. Returns a function that ends the wait. */
  watch(token: TokenInfo, onRevoked: () => void): () => void {
    return this.#store.watch(token, onRevoked)
  }

  async add(entry: unknown): Promise<void> {
    const kept = readAddedEntry(entry)
    this.#checkIssuer(kept)
    this.#addHere(kept)
    const source = this.#source
    if (source === undefined) return
    if (source.append === undefined) throw unavailable('there is no append')
    try {
      await inTime(() => source.append?.(kept))
    } catch (error) {
      throw unavailable(`append failed (${this.#reasonOf('append', error)})`)
    }
  }

  wake(): void {
    this.#poller?.wake()
  }

  async ready(): Promise<void> {
    try {
      await this.#poller?.ready()
    } catch (error) {
      throw unavailable(`changes failed (${reasonOf(error)})`)
    }
  }

  /** Reports each error of the functions that store the entries. */
  #reasonOf(name: 'changes' | 'append', error: unknown): string {
    this.lifecycle.report(name, failureOf(error))
    return reasonOf(error)
  }

  /**
   * Each issuer gives its own users and sessions their names, so that a name alone would be that of
   * others too; and an issuer that nobody accepts is misspelt, and would revoke nothing.
   *
   * @throws TypeError
   */
  #checkIssuer({ sid, sub, issuer }: KeptEntry): void {
    const isAlone = issuer === undefined && (sid !== undefined || sub !== undefined)
    if (isAlone && this.lifecycle.hasSeveralIssuers) {
      throw new TypeError('sub and sid of an entry need issuer: several issuers are accepted')
    }
    if (issuer !== undefined && issuer !== '' && !this.lifecycle.accepts(issuer)) {
      throw new TypeError('issuer of an entry must be one that is accepted')
    }
  }

  #addHere(kept: KeptEntry): void {
    const { names, issuedBefore, until } = readEntry(kept)
    const now = Date.now()
    const end = until ?? now + this.#rules.maxLifetime * 1000
    if (end + this.lifecycle.clockTolerance * 1000 <= now) {
      throw new TypeError('until of an entry is over')
    }
    this.#store.add(names, issuedBefore, { end, isNamed: until !== null })
  }

  /** In slices, so that requests have their turn. */
  #sweepEntries(): void {
    const hasMore = this.#store.sweepSome()
    if (!this.#store.hasLost) this.#loggedFull.clear()
    this.#sweep.set(hasMore ? clock.now() : clock.now() + SWEEP_EVERY)
  }

  get #staleness(): DenyListFailureCode | undefined {
    if (this.#poller === undefined) return undefined
    const { age } = this.#poller
    if (age <= this.#rules.maxStale * 1000) return undefined
    this.#status.look(clock.now(), true)
    if (this.#rules.whenStale === 'admit') return undefined
    return Number.isFinite(age) ? 'ERR_DENY_LIST_STALE' : 'ERR_DENY_LIST_NOT_LOADED'
  }

  #refuse(failure: DenyListFailureCode): never {
    // The poller logs that it is stale.
    if (this.#staleness === undefined && !this.#loggedFull.has(failure)) {
      this.#loggedFull.add(failure)
      this.lifecycle.logFailure(`the deny list is full (${failure})`)
    }
    throw withoutStack(() => new DenyListFailure(failure))
  }

  #logLongLife(): void {
    if (this.#hasLoggedLongLife) return
    this.#hasLoggedLongLife = true
    this.lifecycle.logFailure('the deny list refuses a token that lives longer than maxLifetime')
  }
}

/** An entry may be gone before the token is, or that is not known. */
function livesTooLong({ issuedAt, expiresAt }: TokenInfo, maxLifetime: number): boolean {
  if (issuedAt === null || expiresAt === null) return true
  return expiresAt.getTime() - issuedAt.getTime() > maxLifetime * 1000
}

function reasonOf(error: unknown): string {
  return isThrown(error, Unusable) ? error.message : errorCode(error)
}

function unavailable(reason: string): ERR_AUTH_REVOCATION_UNAVAILABLE {
  return new ERR_AUTH_REVOCATION_UNAVAILABLE(1, reason)
}
