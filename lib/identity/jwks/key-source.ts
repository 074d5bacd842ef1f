import type { DocumentState } from '../../platform/http/document-status.ts'
import type { Freshness } from '../../platform/http/freshness.ts'
import { RemoteDocument, type RemoteDocumentEvents } from '../../platform/http/remote-document.ts'
import { clock } from '../../platform/runtime/clock.ts'
import { FetchedKeys, type FetchedKeysOptions } from './fetch-jwks.ts'
import { areTestKeys, type KeyChanges, type KeySet } from './jwk-set.ts'

/** The source of an authorization server's public keys. */
export interface KeySource {
  open(): void
  close(): void
  /** The usable set of now; undefined when there is none. Never waits. */
  current(): KeySet | undefined
  /** `current()`, after the load that is under way. */
  settled(): Promise<KeySet | undefined>
  /**
   * Asks for a newer set because a token names a key that this one lacks; undefined when none may
   * be asked for now.
   */
  lookAgain(): Promise<unknown> | undefined
  reload(): Promise<boolean>
  /** Seconds until the next attempt. */
  readonly retryAfter: number
  /** Starts no load. */
  state(): DocumentState
}

export interface RemoteKeysOptions extends Freshness, FetchedKeysOptions {
  /** Least seconds between two loads caused by unknown keys. */
  readonly cooldown: number
}

export interface KeyEvents extends RemoteDocumentEvents {
  /** The new keys are those of a test authority. */
  onTestKeys?(): void
  /** Other keys have taken the place of those that were known. */
  onChangedKeys?(changes: KeyChanges): void
}

/** The key set of another server, with what is known of it by now. */
export class RemoteKeys extends RemoteDocument<KeySet> implements KeySource {
  readonly #cooldown: number
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(options: RemoteKeysOptions, events: KeyEvents) {
    const onNew = (set: KeySet, before: KeySet | undefined): void => {
      if (before !== undefined) events.onChangedKeys?.(set.changesSince(before))
      if (areTestKeys(set)) events.onTestKeys?.()
    }
    super(new FetchedKeys({ ...options, onNew }), options, events)
    this.#cooldown = options.cooldown * 1000
  }

  lookAgain(): Promise<unknown> | undefined {
    if (this.running !== undefined) return this.running
    const now = clock.now()
    if (!this.mayLoad || now - this.#lookedAt < this.#cooldown) return undefined
    this.#lookedAt = now
    return this.reload()
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

  state(): DocumentState {
    return { state: 'fresh', age: null, failure: null }
  }
}
