import type { TokenInfo } from '../../../identity/jwt/token-info.ts'
import type { Lifecycle } from '../../../platform/callbacks/lifecycle.ts'
import { clock } from '../../../platform/runtime/clock.ts'
import type { DenyListRules } from '../deny-list-options.ts'
import { type Names, namesOfToken } from '../entry.ts'
import { ActiveEntry, type Ending, keyOf } from './active-entry.ts'
import { type DenyListFailureCode, Overflow } from './overflow.ts'
import { WatchedTokens } from './watchers.ts'

/** Most entries that name one user, so that its troubles stay its own. */
const MOST_OF_USER = 1000

/** The part of all room that may be held by one issuer, if there are several. */
const MOST_OF_ISSUER = 1 / 4

/** Milliseconds between two sweeps, and while there is no room. */
export const SWEEP_EVERY = 60_000
const SWEEP_FULL_EVERY = 1000

/** Most entries that are looked at in one go, so that no turn is long: some milliseconds. */
const SWEEP_MOST = 20_000

/** Bytes of an entry beside its texts, which stand in several tables: measured, and rounded up. */
const ENTRY_BYTES = 448

/** Bytes of a text beside its characters, with its place in a table. */
const TEXT_BYTES = 64

/** One question to the source, whose answer has the entry. */
export interface Pull {
  readonly serial: number
  /** True: it asked for all entries, rather than for changes. */
  readonly isAnew: boolean
}

interface IssuerEntries {
  /** The oldest one is first. */
  readonly entries: Set<ActiveEntry>
  readonly ofUsers: Set<ActiveEntry>
  bytes: number
}

/** Entries of the same names. The latest `issuedBefore` is first. */
type SameNames = readonly ActiveEntry[]

/** The entries in memory. None is given up before its end: the names of those without room stay. */
export class EntryStore {
  readonly #rules: DenyListRules
  readonly #accepted: Lifecycle
  readonly #watched = new WatchedTokens()
  /** Entries by the mask of their names, and by these names. */
  readonly #tables = new Map<number, Map<string, SameNames>>()
  readonly #ofIssuer = new Map<string | null, IssuerEntries>()
  readonly #ofUser = new Map<string, number>()
  readonly #overflow: Overflow
  #size = 0
  #bytes = 0
  #serial = 0
  #sweep: Iterator<ActiveEntry, undefined> | undefined
  #sweptAt = clock.now()

  constructor(rules: DenyListRules, accepted: Lifecycle) {
    this.#rules = rules
    this.#accepted = accepted
    this.#overflow = new Overflow(accepted)
  }

  get size(): number {
    return this.#size
  }

  has(token: TokenInfo): boolean {
    if (this.#size === 0) return false
    const names = namesOfToken(token)
    const issuedAt = token.issuedAt?.getTime()
    for (const [nameMask, table] of this.#tables) {
      const key = keyOf(names, nameMask)
      const same = key === undefined ? undefined : table.get(key)
      // The first that has not ended reaches farther than all that follow it.
      if (same?.find((entry) => !this.#hasEnded(entry))?.fits(issuedAt)) return true
    }
    return false
  }

  /**
   * Calls a function once as soon as an entry fits, even if there is no room for it; at once if one
   * that found no room may fit. Returns what ends the wait.
   */
  watch(token: TokenInfo, onRevoked: () => void): () => void {
    const isOpen = !this.has(token) && this.failureFor(token) === undefined
    if (isOpen) return this.#watched.add(token, onRevoked)
    onRevoked()
    return () => {}
  }

  /** The reason why it is not known whether an entry fits a token. */
  failureFor(token: TokenInfo): DenyListFailureCode | undefined {
    if (this.#overflow.isEmpty) return undefined
    return this.#overflow.failureFor(namesOfToken(token))
  }

  get hasLost(): boolean {
    return !this.#overflow.isEmpty
  }

  /**
   * Adds an entry that may have been added before.
   *
   * @param ending null: the entry does not say when it was kept, and counts from now
   * @param by undefined: it is a new one
   */
  add(names: Names, issuedBefore: number, ending: Ending | null, by?: Pull): void {
    const known = ending ?? { end: Date.now() + this.#rules.maxLifetime * 1000, isNamed: false }
    // An entry whose source says when it kept it has the same end each time that it comes.
    const answer = ending === null ? by?.serial : undefined
    const entry = new ActiveEntry(names, issuedBefore, known, answer)
    const others = this.#sameNamesAs(entry)
    if (ending === null && by !== undefined && isRepeated(others, entry, by)) return
    if (this.#hasEnded(entry) || others.some((other) => other.covers(entry))) return
    for (const other of others) if (entry.covers(other)) this.#delete(other)
    this.#insert(entry)
    this.#watched.notify(names, entry)
  }

  /** An answer of the source that came to its end. It may have had no entries. */
  noteAnswer(serial: number): void {
    this.#serial = serial
  }

  /** Drops some ended entries. Returns whether there is more to look at now. */
  sweepSome(every = SWEEP_EVERY): boolean {
    const now = clock.now()
    if (this.#sweep === undefined) {
      if (now < this.#sweptAt + every) return false
      this.#sweptAt = now
      this.#overflow.sweep()
      this.#sweep = this.#all()
    }
    for (let looked = 0; looked < SWEEP_MOST; looked++) {
      const { done, value: entry } = this.#sweep.next()
      if (done === true) {
        this.#sweep = undefined
        return false
      }
      // An entry without an end that comes again and again is no new one when it has ended.
      const comesAgain = !entry.isNamed && entry.lastAnswer >= this.#serial - 1
      if (!comesAgain && this.#hasEnded(entry)) this.#delete(entry)
    }
    return true
  }

  *#all(): Generator<ActiveEntry, undefined> {
    for (const { entries } of this.#ofIssuer.values()) yield* entries
  }

  #insert(entry: ActiveEntry): void {
    const full = this.#fullScope(entry)
    if (full !== undefined) {
      this.#overflow.add(entry, full)
      return
    }
    const others = this.#sameNamesAs(entry)
    // Most lists never grow: one that does gets room for more than one entry.
    this.#setSameNames(
      entry,
      others.length === 0 ? [entry] : [...others, entry].sort(byIssuedBefore),
    )
    this.#count(entry, 1)
  }

  /** The scope without room for an entry; undefined: there is room. */
  #fullScope(entry: ActiveEntry): 'user' | 'issuer' | undefined {
    if (this.#limitOf(entry) === undefined) return undefined
    // Ended entries leave their room.
    this.sweepSome(SWEEP_FULL_EVERY)
    if (this.#limitOf(entry) === 'all') this.#makeRoom(entry)
    const limit = this.#limitOf(entry)
    return limit === 'all' ? 'user' : limit
  }

  #limitOf(entry: ActiveEntry): 'user' | 'issuer' | 'all' | undefined {
    if (this.#countOf(entry) >= MOST_OF_USER) return 'user'
    const isOneOfSeveral = entry.issuer !== null && this.#accepted.hasSeveralIssuers
    if (isOneOfSeveral && this.#partOf(entry.issuer) >= MOST_OF_ISSUER) return 'issuer'
    return this.#hasRoom(entry) ? undefined : 'all'
  }

  #delete(entry: ActiveEntry): void {
    this.#setSameNames(
      entry,
      this.#sameNamesAs(entry).filter((other) => other !== entry),
    )
    this.#count(entry, -1)
  }

  #count(entry: ActiveEntry, by: 1 | -1): void {
    const { user, issuer } = entry
    const held = this.#ofIssuer.get(issuer) ?? { entries: new Set(), ofUsers: new Set(), bytes: 0 }
    for (const set of user === null ? [held.entries] : [held.entries, held.ofUsers]) {
      if (by === 1) set.add(entry)
      else set.delete(entry)
    }
    held.bytes += by * bytesOf(entry)
    setOrDelete(this.#ofIssuer, issuer, held, held.entries.size > 0)
    const ofUser = this.#countOf(entry) + by
    if (user !== null) setOrDelete(this.#ofUser, user, ofUser, ofUser > 0)
    this.#size += by
    this.#bytes += by * bytesOf(entry)
  }

  /**
   * The issuer that holds most pays for a full list: its oldest user gives way to an entry of an
   * issuer that holds less, with this one too. So what had to go has no room when it comes again.
   * For an entry without a user a whole issuer would have to pay, so that makes no room.
   */
  #makeRoom(entry: ActiveEntry): void {
    while (!this.#hasRoom(entry)) {
      let most = 0
      let greediest: IssuerEntries | undefined
      for (const [issuer, held] of this.#ofIssuer) {
        const part = this.#partFor(held.entries.size, held.bytes)
        const mayPay = issuer !== null && held.ofUsers.size > 0
        if (mayPay && part > most) [greediest, most] = [held, part]
      }
      const [oldest] = greediest?.ofUsers ?? []
      if (oldest === undefined) return
      const margin = this.#partFor(1, bytesOf(oldest)) + this.#partFor(1, bytesOf(entry))
      if (most < this.#partOf(entry.issuer) + margin) return
      this.#delete(oldest)
      this.#overflow.add(oldest, 'user')
    }
  }

  #hasRoom(entry: ActiveEntry): boolean {
    const { maxEntries, maxBytes } = this.#rules
    return this.#size < maxEntries && this.#bytes + bytesOf(entry) <= maxBytes
  }

  #partOf(issuer: string | null): number {
    const held = this.#ofIssuer.get(issuer)
    return held === undefined ? 0 : this.#partFor(held.entries.size, held.bytes)
  }

  #partFor(entries: number, bytes: number): number {
    return Math.max(entries / this.#rules.maxEntries, bytes / this.#rules.maxBytes)
  }

  #countOf({ user }: ActiveEntry): number {
    return (user !== null && this.#ofUser.get(user)) || 0
  }

  #hasEnded(entry: ActiveEntry): boolean {
    return entry.hasEnded(this.#accepted.clockTolerance)
  }

  #sameNamesAs({ nameMask, key }: ActiveEntry): SameNames {
    return this.#tables.get(nameMask)?.get(key) ?? []
  }

  #setSameNames({ nameMask, key }: ActiveEntry, same: SameNames): void {
    const table = this.#tables.get(nameMask) ?? new Map<string, SameNames>()
    setOrDelete(table, key, same, same.length > 0)
    setOrDelete(this.#tables, nameMask, table, table.size > 0)
  }
}

function setOrDelete<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, stays: boolean) {
  if (stays) map.set(key, value)
  else map.delete(key)
}

const byIssuedBefore = (a: ActiveEntry, b: ActiveEntry) =>
  a.issuedBefore < b.issuedBefore ? 1 : -1

/**
 * True if an entry that names no end has come before. It ends when the one before it does, unless
 * the last answers did not have that one, or had fewer of it: then it was added once more.
 */
function isRepeated(others: SameNames, entry: ActiveEntry, { serial, isAnew }: Pull): boolean {
  const same = others.find((other) => !other.isNamed && other.issuedBefore === entry.issuedBefore)
  if (same === undefined || !(isAnew || same.lastAnswer >= serial - 1)) return false
  if (same.isRepeatedIn(serial)) return true
  entry.copies = same.copies
  return false
}

function bytesOf({ key, user }: ActiveEntry): number {
  const ofUser = user === null || user === key ? 0 : TEXT_BYTES + bytesOfText(user)
  return ENTRY_BYTES + bytesOfText(key) + ofUser
}

function bytesOfText(text: string): number {
  return 1.2 * text.length * (/[^\0-\xff]/.test(text) ? 2 : 1)
}
