import { ERR_AUTH_REVOCATION_UNAVAILABLE } from '../errors.ts'
import { Alarm } from '../outside/alarm.ts'
import { failureOf, withinTime } from '../outside/ask-application.ts'
import { Attendance } from '../outside/attendance.ts'
import { clock } from '../outside/clock.ts'
import { type DocumentState, DocumentStory, tellingOf } from '../outside/document-state.ts'
import { errorCode, isThrown } from '../outside/error-code.ts'
import { Unusable } from '../outside/unusable.ts'
import { withoutStack } from '../outside/without-stack.ts'
import { isOpaque, noteOutlives, type TokenInfo } from '../tokens/token-info.ts'
import { type KeptEntry, readAddedEntry, readEntry } from './deny-entry.ts'
import { DenyListFailure, type DenyListFailureCode } from './deny-list-failure.ts'
import type { DenyListRules } from './deny-list-options.ts'
import type { DenyListSource } from './deny-list-source.ts'
import { EntryStore } from './entry-store.ts'
import { Poller, TIMEOUT } from './poller.ts'

/** Milliseconds between two looks for entries that have ended. */
const SWEEP_EVERY = 60_000

/** What stands behind the function that is given as `isRevoked`. */
export class DenyListCore<Cursor> {
  readonly #rules: DenyListRules
  readonly #source: DenyListSource<Cursor> | undefined
  readonly attendance = new Attendance(this)
  readonly #store: EntryStore
  readonly #poller: Poller<Cursor> | undefined
  readonly #story: DocumentStory
  readonly #sweep = new Alarm(() => this.#sweepEntries())
  /** Why it was full, as far as that was logged. */
  readonly #toldFull = new Set<DenyListFailureCode>()
  #isToldOfLife = false

  /** @param source undefined: the list of this process alone */
  constructor(rules: DenyListRules, source?: DenyListSource<Cursor>) {
    this.#rules = rules
    this.#source = source
    this.#store = new EntryStore(rules, this.attendance)
    const maxStale = rules.whenStale === 'admit' ? Number.POSITIVE_INFINITY : 0
    const ages = { maxAge: rules.maxStale, maxStale }
    this.#story = new DocumentStory(ages, tellingOf('denyList', 'denyList'))
    if (source === undefined) return
    this.#poller = new Poller(source, rules, this.#store, {
      onFailure: (error) => {
        const reason = this.#reasonOf('changes', error)
        this.#story.failed(reason)
        this.attendance.tell(`the deny list cannot be read (${reason})`)
      },
      onSuccess: (at) => {
        this.#story.fetched(at)
        this.attendance.forget()
      },
      onNotice: (notice) => this.attendance.tell(notice),
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
    return this.#source && this.#story.state
  }

  get size(): number {
    return this.#store.size
  }

  isRevoked(token: TokenInfo): boolean {
    const staleness = this.#staleness
    // What is known stays true, however old it is.
    if (this.#store.has(token)) return true
    if (!isOpaque(token) && livesTooLong(token, this.#rules.maxLifetime)) {
      this.#tellOfLife()
      noteOutlives(token)
      return true
    }
    const failure = staleness ?? this.#store.failureFor(token)
    if (failure !== undefined) this.#refuse(failure)
    return false
  }

  /** Calls a function once as soon as an entry fits. Returns what ends the wait. */
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
      await withinTime(() => source.append?.(kept), TIMEOUT)
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

  /** Each error of the functions that keep the entries comes by here, once. */
  #reasonOf(asked: 'changes' | 'append', error: unknown): string {
    this.attendance.report(asked, failureOf(error))
    return reasonOf(error)
  }

  /**
   * Each issuer gives its own users and sessions their names, so that a name alone would be that of
   * others too; and one that nobody accepts is misspelt, and would revoke nothing.
   *
   * @throws TypeError
   */
  #checkIssuer({ sid, sub, issuer }: KeptEntry): void {
    const { attendance } = this
    const isAlone = issuer === undefined && (sid !== undefined || sub !== undefined)
    if (isAlone && attendance.hasSeveralIssuers) {
      throw new TypeError('sub and sid of an entry need issuer: several issuers are accepted')
    }
    if (issuer !== undefined && issuer !== '' && !attendance.accepts(issuer)) {
      throw new TypeError('issuer of an entry must be one that is accepted')
    }
  }

  #addHere(kept: KeptEntry): void {
    const { names, issuedBefore, until } = readEntry(kept)
    const now = Date.now()
    const end = until ?? now + this.#rules.maxLifetime * 1000
    if (end + this.attendance.clockTolerance * 1000 <= now) {
      throw new TypeError('until of an entry is over')
    }
    this.#store.add(names, issuedBefore, { end, isNamed: until !== null })
  }

  /** In slices, so that requests have their turn. */
  #sweepEntries(): void {
    const hasMore = this.#store.sweepSome()
    if (!this.#store.hasLost) this.#toldFull.clear()
    this.#sweep.set(hasMore ? clock.now() : clock.now() + SWEEP_EVERY)
  }

  get #staleness(): DenyListFailureCode | undefined {
    if (this.#poller === undefined) return undefined
    const { age } = this.#poller
    if (age <= this.#rules.maxStale * 1000) return undefined
    this.#story.look(clock.now(), true)
    if (this.#rules.whenStale === 'admit') return undefined
    return Number.isFinite(age) ? 'ERR_DENY_LIST_STALE' : 'ERR_DENY_LIST_NOT_LOADED'
  }

  #refuse(failure: DenyListFailureCode): never {
    // That it is stale is told by the poller.
    if (this.#staleness === undefined && !this.#toldFull.has(failure)) {
      this.#toldFull.add(failure)
      this.attendance.tell(`the deny list is full (${failure})`)
    }
    throw withoutStack(() => new DenyListFailure(failure))
  }

  #tellOfLife(): void {
    if (this.#isToldOfLife) return
    this.#isToldOfLife = true
    this.attendance.tell('the deny list refuses a token that lives longer than maxLifetime')
  }
}

/** Whether an entry may be gone before the token is, or nobody can tell. */
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
