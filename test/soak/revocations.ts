import type { Outages } from './history.ts'
import { meet, type Span } from './history.ts'
import { DENY_LIST, LEARNT_WITHIN, ON_THE_WAY, STORE_RECOVERY } from './settings.ts'
import type { Claims } from './token.ts'

/** An entry as it is added. */
export interface Entry {
  readonly jti?: string
  readonly sid?: string
  readonly sub?: string
  readonly issuer?: string
  /** Milliseconds since the epoch. */
  readonly issuedBefore?: number
}

interface Added {
  readonly entry: Entry
  /** The process that has it in memory. */
  readonly by: number
  readonly addedAt: number
  /** When `add` had ended, in whatever way: from then on it counts where it was added. */
  endedAt: number
  /** When the store had it for sure. */
  keptAt: number
}

/** What is known of the revocation of a token in one process. */
export interface RevocationSeen {
  /** Whether an entry may be known that fits, and whether one is for sure. */
  readonly mayBeRevoked: boolean
  readonly isRevoked: boolean
  /** Whether the list may be too old to admit a token. */
  readonly mayBeStale: boolean
  /** Whether the list is too old, or young enough to have an entry that fits. */
  readonly mayNotAdmit: boolean
}

/** All entries that were added, and when each process has to know them. */
export class Revocations {
  readonly #byName = new Map<string, Added[]>()
  readonly #store: Outages

  constructor(store: Outages) {
    this.#store = store
  }

  /** Called before the entry is sent. */
  begin(entry: Entry, by: number): Added {
    const never = Number.POSITIVE_INFINITY
    const added = { entry, by, addedAt: performance.now(), endedAt: never, keptAt: never }
    const name = firstName(entry)
    this.#byName.set(name, [...(this.#byName.get(name) ?? []), added])
    return added
  }

  end(added: Added, isKept: boolean): void {
    added.endedAt = Math.min(added.endedAt, performance.now())
    if (isKept) added.keptAt = performance.now()
  }

  seen(claims: Claims, process: number, span: Span, patience: number): RevocationSeen {
    const fitting = namesOf(claims)
      .flatMap((name) => this.#byName.get(name) ?? [])
      .filter(({ entry, addedAt }) => addedAt <= span.until && fits(entry, claims))
    const { mayBeStale, isStale } = this.#staleness(span, patience)
    return {
      mayBeRevoked: fitting.length > 0,
      isRevoked: fitting.some((added) => this.#isKnown(added, process, span, patience)),
      mayBeStale,
      mayNotAdmit: isStale || fitting.some((added) => isInAnyList(added, span, patience)),
    }
  }

  /** When each entry that fits was sent, counted where it was added, and was kept. */
  timesOf(claims: Claims): (readonly number[])[] {
    return namesOf(claims)
      .flatMap((name) => this.#byName.get(name) ?? [])
      .filter(({ entry }) => fits(entry, claims))
      .map(({ addedAt, endedAt, keptAt }) => [addedAt, endedAt, keptAt])
  }

  #isKnown(added: Added, process: number, { from }: Span, patience: number): boolean {
    if (added.by === process) return added.endedAt <= from
    const { keptAt } = added
    const learnt = LEARNT_WITHIN * 1000 + patience
    const isWell = this.#store.wasWell(from - learnt - STORE_RECOVERY * 1000, from)
    return isWell && from >= keptAt + learnt
  }

  /** The list was read at last shortly before the store went, and is read soon after its return. */
  #staleness(span: Span, patience: number) {
    const last = DENY_LIST.maxStale * 1000
    const onTheWay = ON_THE_WAY * 1000 + patience
    const since = last - LEARNT_WITHIN * 1000 - patience
    const recovery = STORE_RECOVERY * 1000 + patience
    const outages = this.#store.all()
    return {
      mayBeStale: outages
        .map(({ from, until }) => ({ from: from + since, until: until + recovery }))
        .some((stale) => stale.from <= stale.until && meet(stale, span)),
      isStale: outages.some(
        ({ from, returnsAt }) => span.from > from + last + onTheWay && span.until < returnsAt,
      ),
    }
  }
}

/** A list that admits is never older than `maxStale`. */
function isInAnyList({ keptAt }: Added, { from }: Span, patience: number): boolean {
  return from >= keptAt + DENY_LIST.maxStale * 1000 + patience
}

/** An entry fits where all that it names does. */
function fits(entry: Entry, claims: Claims): boolean {
  const { jti, sid, sub, issuer, issuedBefore } = entry
  return (
    (jti === undefined || jti === claims.jti) &&
    (sid === undefined || sid === claims.sid) &&
    (sub === undefined || sub === claims.sub) &&
    (issuer === undefined || issuer === claims.iss) &&
    (issuedBefore === undefined || claims.iat * 1000 < issuedBefore)
  )
}

function firstName({ jti, sid, sub, issuer }: Entry): string {
  const [name = ''] = namesOf({ jti, sid, sub, iss: issuer })
  return name
}

function namesOf(named: {
  readonly jti: string | undefined
  readonly sid: string | undefined
  readonly sub: string | undefined
  readonly iss: string | undefined
}): string[] {
  const { jti, sid, sub, iss } = named
  const all = { jti, sid, sub, iss }
  return Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${value}`],
  )
}
