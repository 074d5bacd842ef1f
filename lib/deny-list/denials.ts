import type { TokenInfo } from '../tokens/token-info.ts'
import { DenialIndex } from './denial-index.ts'
import type { Denial } from './deny-entry.ts'
import type { DenyListFailureCode } from './deny-list-failure.ts'
import { Endings } from './endings.ts'
import { HeldDenial } from './held-denial.ts'
import { Overflow } from './overflow.ts'
import { WatchedTokens } from './watched-tokens.ts'

/** Most entries that name one issuer, so that its troubles stay its own. */
export const MOST_OF_ISSUER = 10_000

/** Most entries that one look lets go, so that no request pays for all of them. */
const MOST_AT_ONCE = 100

/** The entries in memory. None is given up before its end: what has no room is remembered. */
export class Denials {
  readonly #maxEntries: number
  readonly #index = new DenialIndex()
  readonly #endings = new Endings()
  readonly #watched = new WatchedTokens()
  readonly #ofIssuer = new Map<string, number>()
  #size = 0
  #overflow = new Overflow()
  /** What has had no room since all entries were asked for anew. */
  #overflowAnew: Overflow | undefined

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  get size(): number {
    return this.#size
  }

  /** Whether an entry fits. */
  deny(token: TokenInfo): boolean {
    for (const ended of this.#endings.takeSome(MOST_AT_ONCE)) this.#delete(ended)
    return this.#index.has(token)
  }

  /**
   * Calls a function once as soon as an entry fits, be there room for it or not. Returns what ends
   * the wait.
   */
  watch(token: TokenInfo, onDenied: () => void): () => void {
    if (!this.deny(token)) return this.#watched.add(token, onDenied)
    onDenied()
    return () => {}
  }

  /** Why it cannot be told of the tokens of an issuer whether an entry fits. */
  failureFor(issuer: string | null): DenyListFailureCode | undefined {
    if (this.#overflow.concernsAll) return 'ERR_DENY_LIST_FULL'
    return this.#overflow.concerns(issuer) ? 'ERR_DENY_LIST_ISSUER_FULL' : undefined
  }

  /** Whether entries had no room that were worth reading anew. */
  get hasLost(): boolean {
    return !this.#overflow.isEmpty
  }

  /**
   * All entries are asked for, so that what had no room may have some. Returns what tells that they
   * have been added. What is added in between may be missing among them.
   */
  beginAnew(): () => void {
    const anew = new Overflow()
    this.#overflowAnew = anew
    return () => {
      // Another one began after it.
      if (this.#overflowAnew !== anew) return
      this.#overflow = anew
      this.#overflowAnew = undefined
    }
  }

  /** Lets go what has ended. Before entries are added, so that these have its room. */
  sweep(): void {
    for (const ended of this.#endings.takeAll()) this.#delete(ended)
  }

  add(denial: Denial): void {
    const held = new HeldDenial(denial)
    if (held.hasEnded) return
    const others = this.#index.get(denial)
    if (others.some((other) => other.covers(held))) return
    for (const other of others.filter((each) => held.covers(each))) {
      this.#endings.delete(other)
      this.#delete(other)
    }
    this.#watched.tell(held)
    const [, , , issuer] = held.names
    if (issuer !== null && this.#count(issuer) >= MOST_OF_ISSUER) this.#lose(held, issuer)
    else if (this.#size >= this.#maxEntries) this.#lose(held, null)
    else this.#insert(held, issuer)
  }

  #insert(held: HeldDenial, issuer: string | null): void {
    this.#index.add(held)
    this.#endings.add(held)
    this.#size += 1
    if (issuer !== null) this.#ofIssuer.set(issuer, this.#count(issuer) + 1)
  }

  #delete(held: HeldDenial): void {
    this.#index.delete(held)
    this.#size -= 1
    const [, , , issuer] = held.names
    if (issuer === null) return
    const left = this.#count(issuer) - 1
    if (left > 0) this.#ofIssuer.set(issuer, left)
    else this.#ofIssuer.delete(issuer)
  }

  #lose(held: HeldDenial, issuer: string | null): void {
    this.#overflow.add(held, issuer)
    this.#overflowAnew?.add(held, issuer)
  }

  #count(issuer: string): number {
    return this.#ofIssuer.get(issuer) ?? 0
  }
}
