import * as Type from '@sinclair/typebox'
import { entryPointOptions } from '../../config/option-reader.ts'
import { Callable } from '../../config/option-types.ts'
import { ERR_AUTH_REVOCATION_UNAVAILABLE } from '../../errors.ts'
import { WATCH, type WatchRevocation } from '../../identity/authentication/revocation-check.ts'
import { isOfOpaqueToken, noteOutlives, type TokenInfo } from '../../identity/jwt/token-info.ts'
import type { UserInfo } from '../../identity/jwt/user-info.ts'
import { LIFECYCLE, Lifecycle } from '../../platform/callbacks/lifecycle.ts'
import { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { changeReporter, DocumentStatus } from '../../platform/http/document-status.ts'
import { Unusable } from '../../platform/http/failure.ts'
import { clock } from '../../platform/runtime/clock.ts'
import { errorCode, isThrown, withoutStack } from '../../platform/runtime/error.ts'
import { ownMember } from '../../platform/runtime/own-property.ts'
import { Alarm } from '../../platform/runtime/timer.ts'
import { checkRules, type DenyListRules, RULES } from './deny-list-options.ts'
import { type Changes, type DenyEntry, type KeptEntry, readAddedEntry, readEntry } from './entry.ts'
import { EntryStore, SWEEP_EVERY } from './memory/entry-store.ts'
import { DenyListFailure, type DenyListFailureCode } from './memory/overflow.ts'
import { type DenyListSource, failureOf, inTime, startPoller } from './poller.ts'

/** The place of the entries of all processes, and the rules of the list. */
export interface DenyListOptions<Cursor> extends Partial<DenyListRules> {
  /**
   * Returns the entries that were added since a cursor; for `null`, all that have not ended. It is
   * called so at first, and after any failure. It may repeat earlier entries. An answer that is
   * late (10 seconds), or that cannot be read, is a failure, and leaves the list as it is. Not
   * given: the list is that of this process alone.
   */
  readonly changes?: (cursor: Cursor | null) => Changes<Cursor> | Promise<Changes<Cursor>>
  /**
   * Called by `add`: stores an entry, so that `changes` returns it in every process. It takes 10
   * seconds at most. Not given: `add` throws, and the entry counts in this process alone.
   */
  readonly append?: (entry: KeptEntry) => unknown
}

type Functions<Cursor> = Required<Pick<DenyListOptions<Cursor>, 'changes' | 'append'>>

/**
 * For the option `isRevoked`: refuses the tokens that its entries fit. Each process holds all
 * entries in memory, and asks `changes` for new ones every `interval`, so that no request waits for
 * a network.
 *
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options
 */
export function denyList<Cursor = unknown>(given: DenyListOptions<Cursor> = {}): DenyList {
  const options = entryPointOptions('denyList', given, {
    // Their answers are checked when they are called.
    changes: Type.Optional(Callable<Functions<Cursor>['changes']>()),
    append: Type.Optional(Callable<Functions<Cursor>['append']>()),
    ...RULES,
  })
  checkRules(options)
  if (options.has('append') && !options.has('changes')) {
    options.refuse('append', 'changes beside it', 'append alone')
  }
  const { changes, append, ...rules } = options.finish()
  const source: DenyListSource<Cursor> | undefined = changes && {
    async changes(cursor) {
      const answer = await changes(cursor)
      const isList = Array.isArray(ownMember(answer, 'entries'))
      if (isList && ownMember(answer, 'cursor') !== undefined) {
        return { entries: [...answer.entries], cursor: answer.cursor }
      }
      throw new Unusable('no entries with a cursor')
    },
    append,
  }
  return denyListFunction(rules, source)
}

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
  /** The number of entries in memory. */
  size(): number
}

/** @param source undefined: the list of this process alone */
export function denyListFunction<Cursor>(
  rules: DenyListRules,
  source?: DenyListSource<Cursor>,
): DenyList {
  const { maxStale, whenStale, maxLifetime } = rules
  const lifecycle: Lifecycle = new Lifecycle({
    begin() {
      isOpen = true
      poller?.begin()
      sweep()
    },
    end() {
      isOpen = false
      poller?.end()
      // Further entries may be added, by a script for example.
      const ended = appends
      appends = new PendingRequests()
      ended.end()
      alarm.stop()
    },
    get isReady() {
      return staleness() === undefined && Number.isFinite(poller?.age ?? 0)
    },
    state: () => source && status.state,
  })
  const store = new EntryStore(rules, lifecycle)
  const ages = { maxAge: maxStale, maxStale: whenStale === 'admit' ? Number.POSITIVE_INFINITY : 0 }
  const status = new DocumentStatus(ages, changeReporter('denyList', 'denyList'))
  const poller =
    source &&
    startPoller(source, rules, store, {
      onFailure(error) {
        const reason = reportedReason('changes', error)
        status.failed(reason)
        lifecycle.logFailure(`the deny list cannot be read (${reason})`)
      },
      onSuccess(at) {
        status.fetched(at)
        lifecycle.logSuccess()
      },
      onNotice: (notice) => lifecycle.logFailure(notice),
    })
  const alarm = new Alarm(sweep)
  /** The reasons why it was full that are logged already. */
  const loggedFull = new Set<DenyListFailureCode>()
  let hasLoggedLongLife = false
  let isOpen = false
  let appends = new PendingRequests()

  /** In slices, so that requests have their turn. */
  function sweep(): void {
    const hasMore = store.sweepSome()
    if (!store.hasLost) loggedFull.clear()
    alarm.set(hasMore ? clock.now() : clock.now() + SWEEP_EVERY)
  }

  function staleness(): DenyListFailureCode | undefined {
    const age = poller?.age ?? 0
    if (age <= maxStale * 1000) return undefined
    const isLoaded = Number.isFinite(age)
    // A function of the application calls it, and nobody reads it: a slip, and no outage.
    if (!isLoaded && !isOpen) return 'ERR_DENY_LIST_NOT_GIVEN'
    status.look(clock.now(), true)
    if (whenStale === 'admit') return undefined
    return isLoaded ? 'ERR_DENY_LIST_STALE' : 'ERR_DENY_LIST_NOT_LOADED'
  }

  function isRevoked(_userInfo: UserInfo, token: TokenInfo): boolean {
    const stale = staleness()
    // A revocation stays true, however old it is.
    if (store.has(token)) return true
    if (!isOfOpaqueToken(token) && livesTooLong(token, maxLifetime)) {
      if (!hasLoggedLongLife) lifecycle.logFailure(LONG_LIFE)
      hasLoggedLongLife = true
      noteOutlives(token)
      return true
    }
    const failure = stale ?? store.failureFor(token)
    if (failure === undefined) return false
    // The poller logs that it is stale.
    if (stale === undefined && !loggedFull.has(failure)) {
      loggedFull.add(failure)
      lifecycle.logFailure(`the deny list is full (${failure})`)
    }
    throw withoutStack(() => new DenyListFailure(failure))
  }

  async function add(entry: unknown): Promise<void> {
    const kept = readAddedEntry(entry)
    checkIssuer(kept, lifecycle)
    const { names, issuedBefore, until } = readEntry(kept, TypeError)
    const end = until ?? Date.now() + maxLifetime * 1000
    if (end + lifecycle.clockTolerance * 1000 <= Date.now()) {
      throw new TypeError('until of an entry is over')
    }
    store.add(names, issuedBefore, { end, isNamed: until !== null })
    if (source === undefined) return
    if (source.append === undefined) throw unavailable('there is no append')
    const waits = appends
    try {
      await inTime(() => source.append?.(kept), waits)
    } catch (error) {
      const reason = waits.isOver ? 'ended' : reportedReason('append', error)
      throw unavailable(`append failed (${reason})`)
    }
  }

  async function ready(): Promise<void> {
    try {
      await poller?.ready()
    } catch (error) {
      throw unavailable(`changes failed (${reasonOrCode(error)})`)
    }
  }

  function reportedReason(name: 'changes' | 'append', error: unknown): string {
    lifecycle.report(name, failureOf(error))
    return reasonOrCode(error)
  }

  const wake = (): void => poller?.wake()
  const size = (): number => store.size
  const watch: WatchRevocation = (token, onRevoked) => store.watch(token, onRevoked)
  // Not enumerable: both are of no use to those who look at the function.
  return Object.defineProperties(Object.assign(isRevoked, { add, wake, ready, size }), {
    [LIFECYCLE]: { value: lifecycle },
    [WATCH]: { value: watch },
  })
}

const LONG_LIFE = 'the deny list refuses a token that lives longer than maxLifetime'

/**
 * Each issuer gives its own users and sessions their names, so that a name alone would be that of
 * others too; and an issuer that nobody accepts is misspelt, and would revoke nothing.
 *
 * @throws TypeError
 */
function checkIssuer({ sid, sub, issuer }: KeptEntry, lifecycle: Lifecycle): void {
  const isAlone = issuer === undefined && (sid !== undefined || sub !== undefined)
  if (isAlone && lifecycle.hasSeveralIssuers) {
    throw new TypeError('sub and sid of an entry need issuer: several issuers are accepted')
  }
  if (issuer !== undefined && issuer !== '' && !lifecycle.accepts(issuer)) {
    throw new TypeError('issuer of an entry must be one that is accepted')
  }
}

/** An entry may be gone before the token is, or that is not known. */
function livesTooLong({ issuedAt, expiresAt }: TokenInfo, maxLifetime: number): boolean {
  if (issuedAt === null || expiresAt === null) return true
  return expiresAt.getTime() - issuedAt.getTime() > maxLifetime * 1000
}

function reasonOrCode(error: unknown): string {
  return isThrown(error, Unusable) ? error.message : errorCode(error)
}

function unavailable(reason: string): ERR_AUTH_REVOCATION_UNAVAILABLE {
  return new ERR_AUTH_REVOCATION_UNAVAILABLE(1, reason)
}
