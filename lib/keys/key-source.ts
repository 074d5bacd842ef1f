import { clock } from '../outside/clock.ts'
import { fetchJson } from '../outside/fetch-json.ts'
import type { Freshness } from '../outside/freshness.ts'
import { RemoteDocument, type RemoteDocumentEvents } from '../outside/remote-document.ts'
import { KeySet } from './key-set.ts'

/** Where the authorization server's public keys come from. */
export interface KeySource {
  open(): void
  close(): void
  /** The usable set of now; undefined when there is none. Never waits. */
  current(): KeySet | undefined
  /** As `current()`, after the load that is under way. */
  settled(): Promise<KeySet | undefined>
  /**
   * Asks for a newer set because a token names a key that this one lacks; undefined when none may
   * be asked for now.
   */
  lookAgain(): Promise<unknown> | undefined
  /** Asks for a newer set at once; resolves to whether it came. */
  reload(): Promise<boolean>
  /** Seconds until the next attempt. */
  readonly retryAfter: number
}

/** Most bytes of a JWK set, after decompression. */
const MAX_BYTES = 512 * 1024

export interface RemoteKeysOptions extends Freshness {
  readonly url: string
  /** Least seconds between two loads caused by unknown keys. */
  readonly cooldown: number
}

/** The key set at a `jwks_uri` (RFC 8414 §2). */
export class RemoteKeys implements KeySource {
  readonly #document: RemoteDocument<KeySet>
  readonly #cooldown: number
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(options: RemoteKeysOptions, events: RemoteDocumentEvents) {
    this.#cooldown = options.cooldown * 1000
    const { url } = options
    let last: KeySet | undefined
    const load = async (signal: AbortSignal) => {
      const jwks = await fetchJson(url, { maxBytes: MAX_BYTES, signal })
      const set = new KeySet(jwks)
      // The same keys stay the same object: what was verified with them stays verified.
      if (set.fingerprint !== last?.fingerprint) last = set
      return last
    }
    this.#document = new RemoteDocument({ url, load }, options, events)
  }

  open(): void {
    this.#document.open()
  }

  close(): void {
    this.#document.close()
  }

  current(): KeySet | undefined {
    return this.#document.current()
  }

  settled(): Promise<KeySet | undefined> {
    return this.#document.settled()
  }

  lookAgain(): Promise<unknown> | undefined {
    const { running, mayLoad } = this.#document
    if (running !== undefined) return running
    const now = clock.now()
    if (!mayLoad || now - this.#lookedAt < this.#cooldown) return undefined
    this.#lookedAt = now
    return this.#document.reload()
  }

  reload(): Promise<boolean> {
    return this.#document.reload()
  }

  get retryAfter(): number {
    return this.#document.retryAfter
  }
}

/** A key set given in code. */
export class StaticKeys implements KeySource {
  readonly #keys: KeySet
  readonly retryAfter = 1

  constructor(keys: KeySet) {
    this.#keys = keys
  }

  open(): void {}

  close(): void {}

  current(): KeySet {
    return this.#keys
  }

  async settled(): Promise<KeySet> {
    return this.#keys
  }

  lookAgain(): undefined {
    return undefined
  }

  async reload(): Promise<boolean> {
    return true
  }
}
