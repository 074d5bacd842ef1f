import { AuthError, ERR_AUTH_ISSUERS_UNAVAILABLE, ERR_AUTH_KEYS_UNAVAILABLE } from '../../errors.ts'
import { CachedCallback } from '../../platform/callbacks/cached-callback.ts'
import type { ReportFailure } from '../../platform/callbacks/call-with-timeout.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { changeReporter, DocumentStatus } from '../../platform/http/document-status.ts'
import { clock } from '../../platform/runtime/clock.ts'
import { errorCode, isThrown, withoutStack } from '../../platform/runtime/error.ts'
import { after, type MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import { Alarm } from '../../platform/runtime/timer.ts'
import type { ExternalRights } from '../authorization/external-rights.ts'
import type { KeySource } from '../jwks/key-source.ts'
import { mismatch, tokenRefusal } from '../jwt/token-refusal.ts'
import type { Issuer, IssuerEntry, Standing } from './issuer.ts'
import { IssuerTable } from './issuer-table.ts'
import type { Claimed, Issuers } from './issuers.ts'

/** Most answers that name no issuer. */
const MOST_UNKNOWN = 1000

/** Most repeats of a question whose answer was forgotten on its way. */
const MOST_TURNS = 5

/** Milliseconds between two warnings that issuers had to go. */
const WARNED_FOR = 60_000

/** The expected `iss`, for the log. */
const KNOWN = ['one that the issuers function knows']

/** Most questions at one time about issuers that are known, and about those that are not. */
const MOST_OPEN = 16

/**
 * A name that the function is asked about: rules have no other, and a database may fail over it. It
 * is short, since an invented one is kept too.
 */
const NAME = /^[^\s\p{C}]{1,2048}$/u

/** Seconds. An answer that is not kept at all would take its keys with it, for each request. */
const LEAST_AGE = 0.001

export interface DynamicIssuersRules {
  ask(iss: string): unknown
  /** The issuer of an answer; null: none; undefined: it is no answer. */
  read(iss: string, answer: unknown): IssuerEntry | null | undefined
  keysOf(entry: IssuerEntry): KeySource
  /** Rights by a function of the entry's own; undefined: it has none. */
  rightsOf(entry: IssuerEntry): ExternalRights | undefined
  issuerOf(entry: IssuerEntry, own: Own, standing: Standing): Issuer
  readonly report?: ReportFailure
  warn(reason: string): void
  readonly issuersMax: number
  /** In seconds, as the three below. */
  readonly timeout: number
  readonly maxAge: number
  /** The time beyond `maxAge` for which an answer serves while no newer one can be had. */
  readonly maxStale: number
  /** The time for which an issuer is kept as unknown. */
  readonly cooldown: number
}

/** The parts of an issuer that outlive a change of its rules. */
interface Own {
  readonly keys: KeySource
  readonly rights: ExternalRights | undefined
}

/** An issuer by the application's word. */
interface Held {
  readonly iss: string
  readonly issuer: Issuer
  readonly rights: ExternalRights | undefined
  /** The answer's data: all of it but functions. */
  readonly data: string
  readonly place: string
  readonly status: DocumentStatus
}

/**
 * Issuers that the application knows by a function. `iss` is a key to look up, and nothing else.
 */
export class DynamicIssuers implements Issuers {
  readonly isReady = true
  readonly areDynamic = true
  readonly #rules: DynamicIssuersRules
  readonly #answers: CachedCallback<IssuerEntry | null, Held | null>
  readonly #table: IssuerTable<Held | null>
  #forgotten = 0
  /** The number of issuers that had proved a token and were displaced, since the last warning. */
  #displaced = 0
  readonly #warning = new Alarm(() => this.#warn())
  #warnedAt = Number.NEGATIVE_INFINITY

  constructor(rules: DynamicIssuersRules) {
    this.#rules = rules
    this.#table = new IssuerTable(rules.issuersMax, (held, hadProved) => {
      if (held !== null) this.#displace(held)
      if (hadProved) this.#noteDisplaced()
    })
    this.#answers = new CachedCallback<IssuerEntry | null, Held | null>({
      ask: rules.ask,
      read: (answer, iss) => rules.read(iss, answer),
      toValue: (entry, iss, before, askedAt) => {
        const held = this.#learn(entry, iss, before ?? undefined)
        // Strangers make up issuers. Only an issuer that was known can be reported as gone.
        if (held === null) before?.status.ended()
        else held.status.fetched(askedAt)
        return held
      },
      onFailed: (error, iss, before, isOver) => {
        const status = before?.status ?? this.#statusOf(iss)
        status.failed(isThrown(error, AuthError) ? error.reason : errorCode(error))
        if (!isOver) status.look(clock.now(), true)
        else before?.status.ended()
      },
      onDropped: (held) => end(held),
      refuse: (reason) =>
        withoutStack(() => new ERR_AUTH_ISSUERS_UNAVAILABLE(1, `the issuers function ${reason}`)),
      report: rules.report,
      timeout: rules.timeout,
      keptFor: (held) => (held === null ? rules.cooldown : Math.max(rules.maxAge, LEAST_AGE)),
      table: this.#table,
      refusals: { is: (held) => held === null, maxKept: MOST_UNKNOWN },
      maxStale: rules.maxStale,
      renews: true,
      line: { places: MOST_OPEN },
      known: { has: (iss) => this.#table.isKnown(iss) },
    })
  }

  open(): void {
    this.#answers.open()
    for (const held of this.#answers.values()) held?.issuer.open()
  }

  close(): void {
    this.#answers.close()
    this.#warning.stop()
    this.#displaced = 0
    for (const held of this.#answers.values()) held?.issuer.close()
  }

  async refreshKeys(iss?: string): Promise<void> {
    if (iss === undefined) return
    const issuer = this.#answers.fresh(iss)?.issuer
    if (issuer === undefined) throw new ERR_AUTH_KEYS_UNAVAILABLE(1, 'the issuer is not known')
    await issuer.refreshKeys()
  }

  find(claimed: Claimed, waits: PendingRequests): MaybePromise<Issuer> {
    return this.#find(claimed.iss, waits, MOST_TURNS)
  }

  forget(iss?: string): void {
    this.#forgotten += 1
    this.#answers.forget((known) => iss === undefined || known === iss)
  }

  /** Without those that have proved no token and have places beyond the bound. */
  all(): readonly Issuer[] {
    const known = this.#answers.values().filter((held) => held !== null)
    return known.slice(0, this.#rules.issuersMax).map(({ issuer }) => issuer)
  }

  #find(iss: string | undefined, waits: PendingRequests, turns: number): MaybePromise<Issuer> {
    if (iss === undefined) throw tokenRefusal('the issuer is missing')
    return after(NAME.test(iss) ? this.#answers.get(iss, waits) : null, (held) => {
      if (held === null) {
        throw tokenRefusal('the issuer is not accepted', mismatch('iss', KNOWN, iss))
      }
      if (!held.issuer.isRetired) return held.issuer
      // Forgotten on its way, or another answer has come since.
      if (turns > 0) return this.#find(iss, waits, turns - 1)
      const reason = 'the answers of the issuers function are forgotten before they come'
      throw withoutStack(() => new ERR_AUTH_ISSUERS_UNAVAILABLE(1, reason))
    })
  }

  #displace({ iss, issuer, data }: Held): void {
    const forgotten = this.#forgotten
    issuer.displace(() => {
      const known = this.#answers.fresh(iss)
      return known === undefined ? this.#forgotten === forgotten : known?.data === data
    })
    issuer.keys.close()
  }

  #noteDisplaced(): void {
    this.#displaced += 1
    if (this.#displaced > 1) return
    if (clock.now() - this.#warnedAt >= WARNED_FOR) this.#warn()
    else this.#warning.set(this.#warnedAt + WARNED_FOR)
  }

  #warn(): void {
    const count = this.#displaced
    const { issuersMax, warn } = this.#rules
    this.#displaced = 0
    this.#warnedAt = clock.now()
    const line = `issuers that had proved a token and had to go: ${count}; a larger issuersMax (now ${issuersMax}) keeps them`
    try {
      warn(line)
    } catch {
      // An application's logger may throw. The request that displaced one is good, and no timer may
      // end the process.
    }
  }

  /** An answer that has changed as data makes another issuer, whose tokens are proved anew. */
  #learn(entry: IssuerEntry | null, iss: string, before: Held | undefined): Held | null {
    if (entry === null) return null
    const { mapClaims, resourcesOf, name, keySet: _, ...rest } = entry
    const rightsBy = typeof resourcesOf === 'function' ? 'function' : resourcesOf
    const data = JSON.stringify({ name, rightsBy, ...rest })
    if (typeof resourcesOf === 'function') before?.rights?.askBy(resourcesOf)
    if (before?.data === data) {
      before.issuer.mapBy(mapClaims)
      return before
    }
    return this.#make(entry, iss, data, before)
  }

  #make(entry: IssuerEntry, iss: string, data: string, before: Held | undefined): Held {
    const { publicKeys, publicKeysUrl, issuer: discovered } = entry
    const place = publicKeys ?? publicKeysUrl ?? JSON.stringify(discovered)
    const isSamePlace = before?.place === place
    before?.issuer.retire()
    if (!isSamePlace) before?.issuer.keys.close()
    const keys = isSamePlace ? before.issuer.keys : this.#rules.keysOf(entry)
    keys.open()
    const hasOwn = typeof entry.resourcesOf === 'function'
    const rights = hasOwn ? (before?.rights ?? this.#rules.rightsOf(entry)) : undefined
    const issuer = this.#rules.issuerOf(
      entry,
      { keys, rights },
      {
        isTrusted: () => {
          if (this.#answers.fresh(iss) !== held) return false
          this.#table.noteUse(iss)
          return true
        },
        onProof: () => this.#table.noteProof(iss),
        onWait: () => this.#table.beginWait(iss),
        onWaitEnd: () => this.#table.endWait(iss),
      },
    )
    const status = before?.status ?? this.#statusOf(iss)
    const held: Held = { iss, issuer, rights, data, place, status }
    return held
  }

  #statusOf(iss: string): DocumentStatus {
    return new DocumentStatus(this.#rules, changeReporter('issuer', iss))
  }
}

function end(held: Held | null): void {
  held?.issuer.retire()
  held?.issuer.keys.close()
}
