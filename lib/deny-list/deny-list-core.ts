import { ERR_AUTH_REVOCATION_UNAVAILABLE } from '../errors.ts'
import { failureOf } from '../outside/ask-application.ts'
import { Attendance } from '../outside/attendance.ts'
import { clock } from '../outside/clock.ts'
import { tellingOf } from '../outside/document-event.ts'
import type { DocumentState } from '../outside/document-state.ts'
import { DocumentStory } from '../outside/document-story.ts'
import { errorCode } from '../outside/error-code.ts'
import { withinTime } from '../outside/within-time.ts'
import { withoutStack } from '../outside/without-stack.ts'
import type { TokenInfo } from '../tokens/token-info.ts'
import { Denials } from './denials.ts'
import { readAddedEntry, readDenial, requireIssuer } from './deny-entry.ts'
import { DenyListFailure, type DenyListFailureCode } from './deny-list-failure.ts'
import type { DenyListRules } from './deny-list-options.ts'
import type { DenyListSource } from './deny-list-source.ts'
import { Pulls, TIMEOUT } from './pulls.ts'

/** What stands behind the function that is given as `isRevoked`. */
export class DenyListCore<Cursor> {
  readonly #rules: DenyListRules
  readonly #source: DenyListSource<Cursor> | undefined
  readonly #denials: Denials
  readonly #pulls: Pulls<Cursor> | undefined
  readonly #story: DocumentStory
  readonly attendance = new Attendance(this)
  #isToldOfLife = false

  /** @param source undefined: the list of this process alone */
  constructor(rules: DenyListRules, source?: DenyListSource<Cursor>) {
    this.#rules = rules
    this.#source = source
    this.#denials = new Denials(rules.maxEntries)
    const maxStale = rules.whenStale === 'admit' ? Number.POSITIVE_INFINITY : 0
    const ages = { maxAge: rules.maxStale, maxStale }
    this.#story = new DocumentStory(ages, tellingOf('denyList', 'denyList'))
    if (source === undefined) return
    this.#pulls = new Pulls(source, rules, this.#denials, {
      onFailure: (reason, error) => {
        this.#story.failed(reason)
        this.attendance.report('changes', failureOf(error))
        this.attendance.tell(`the deny list cannot be read (${reason})`)
      },
      onSuccess: (at) => {
        this.#story.fetched(at)
        this.attendance.forget()
      },
    })
  }

  begin(): void {
    this.#pulls?.begin()
    this.#source?.listen?.(
      () => this.wake(),
      (reason) => this.attendance.tell(reason),
    )
  }

  end(): void {
    this.#pulls?.end()
    this.#source?.end?.()
  }

  get isReady(): boolean {
    return (this.#staleness ?? this.#denials.failureFor(null)) === undefined
  }

  /** Undefined: it is the list of this process alone. */
  state(): DocumentState | undefined {
    return this.#source && this.#story.state
  }

  get size(): number {
    return this.#denials.size
  }

  isRevoked(token: TokenInfo): boolean {
    const failure = this.#staleness ?? this.#denials.failureFor(token.issuer)
    if (livesTooLong(token, this.#rules.maxLifetime)) {
      this.#tellOfLife()
      return true
    }
    // What is known stays true, however old it is.
    if (this.#denials.deny(token)) return true
    if (failure !== undefined) this.#refuse(failure)
    return false
  }

  /** Calls a function once as soon as an entry fits. Returns what ends the wait. */
  watch(token: TokenInfo, onDenied: () => void): () => void {
    return this.#denials.watch(token, onDenied)
  }

  async add(entry: unknown): Promise<void> {
    const kept = readAddedEntry(entry, this.#rules.maxLifetime, this.attendance.clockTolerance)
    if (this.attendance.hasSeveralIssuers) requireIssuer(kept)
    this.#denials.sweep()
    this.#denials.add(readDenial(kept))
    const source = this.#source
    if (source === undefined) return
    if (source.append === undefined) throw unavailable('there is no append')
    try {
      await withinTime(() => source.append?.(kept), TIMEOUT)
    } catch (error) {
      this.attendance.report('append', failureOf(error))
      throw unavailable(`append failed (${errorCode(error)})`)
    }
  }

  wake(): void {
    this.#pulls?.wake()
  }

  async ready(): Promise<void> {
    try {
      await this.#pulls?.ready()
    } catch (error) {
      throw unavailable(`changes failed (${errorCode(error)})`)
    }
  }

  get #staleness(): DenyListFailureCode | undefined {
    if (this.#pulls === undefined) return undefined
    const { age } = this.#pulls
    if (age <= this.#rules.maxStale * 1000) return undefined
    this.#story.look(clock.now(), true)
    if (this.#rules.whenStale === 'admit') return undefined
    return Number.isFinite(age) ? 'ERR_DENY_LIST_STALE' : 'ERR_DENY_LIST_NOT_LOADED'
  }

  #refuse(failure: DenyListFailureCode): never {
    // That it is stale is told by the pulls.
    if (this.#staleness === undefined) this.attendance.tell(`the deny list is full (${failure})`)
    throw withoutStack(() => new DenyListFailure(failure))
  }

  #tellOfLife(): void {
    if (this.#isToldOfLife) return
    this.#isToldOfLife = true
    this.attendance.tell('the deny list refuses a token that lives longer than maxLifetime')
  }
}

/**
 * Whether an entry may be gone before the token is. Without `iat` its life counts from now; without
 * `exp` it has no end.
 */
function livesTooLong({ issuedAt, expiresAt }: TokenInfo, maxLifetime: number): boolean {
  if (expiresAt === null) return true
  const from = issuedAt?.getTime() ?? Date.now()
  return expiresAt.getTime() - from > maxLifetime * 1000
}

function unavailable(reason: string): ERR_AUTH_REVOCATION_UNAVAILABLE {
  return new ERR_AUTH_REVOCATION_UNAVAILABLE(1, reason)
}
