import type { DocumentState } from '../http/document-status.ts'
import type { CallbackFailure, ReportsOf } from './call-with-timeout.ts'

// Outside: functions that an application got from a door of ours and gave back as an option, to
// several services perhaps. Some hold a connection or a timer, which must begin and end with them.

/** What a function does between questions. */
export interface LifecycleWork {
  begin?(): void
  end(): void
  readonly isReady?: boolean
  state?(): DocumentState | undefined
}

const NONE: AcceptedTokens = { issuers: [], clockTolerance: 0 }

/**
 * The services that use a function, which may be several. They are told of a failure once, and not
 * again before what has failed has worked. The work begins with the first one, and ends with the
 * last one.
 */
export class SharedLifecycle implements Lifecycle {
  readonly #work: LifecycleWork
  readonly #listeners: ((reason: string) => void)[] = []
  readonly #reports: ReportsOf[] = []
  readonly #issuers = new Set<string | undefined>()
  #isAsked = false
  #clockTolerance = 0
  #services = 0
  #told: string | undefined

  constructor(work: LifecycleWork) {
    this.#work = work
  }

  get isReady(): boolean {
    return this.#work.isReady ?? true
  }

  /**
   * Whether the services accept tokens of several issuers together. One that has ended counts until
   * the last one ends.
   */
  get hasSeveralIssuers(): boolean {
    return this.#isAsked || this.#issuers.size > 1
  }

  /** Whether tokens of an issuer may be accepted. Undefined stands for any issuer. */
  accepts(issuer: string): boolean {
    const issuers = this.#issuers
    if (this.#isAsked || issuers.size === 0 || issuers.has(undefined)) return true
    return issuers.has(issuer)
  }

  /** Seconds; the greatest of the services. */
  get clockTolerance(): number {
    return this.#clockTolerance
  }

  state(): DocumentState | undefined {
    return this.#work.state?.()
  }

  open(
    onFailure: (reason: string) => void,
    accepted: AcceptedTokens = NONE,
    reports?: ReportsOf,
  ): void {
    const { issuers, clockTolerance } = accepted
    this.#services += 1
    this.#listeners.push(onFailure)
    if (reports !== undefined) this.#reports.push(reports)
    if (issuers === 'asked') this.#isAsked = true
    else for (const issuer of issuers) this.#issuers.add(issuer)
    this.#clockTolerance = Math.max(this.#clockTolerance, clockTolerance)
    // Who comes later is told too.
    this.#told = undefined
    if (this.#services === 1) this.#work.begin?.()
  }

  close(): void {
    this.#services -= 1
    if (this.#services > 0) return
    this.#listeners.length = 0
    this.#reports.length = 0
    this.#issuers.clear()
    this.#isAsked = false
    this.#clockTolerance = 0
    this.#work.end()
  }

  /** @param reason constant text */
  logFailure(reason: string): void {
    if (this.#told === reason) return
    this.#told = reason
    for (const listener of this.#listeners) listener(reason)
  }

  /** @param name of the application's function that failed */
  report(name: string, failure: CallbackFailure): void {
    for (const reportOf of this.#reports) reportOf(name)(failure)
  }

  /** It works, so that the next failure is a new one. */
  logSuccess(): void {
    this.#told = undefined
  }
}

/** The key under which such a function carries its attendant. Other code cannot name it. */
export const LIFECYCLE: unique symbol = Symbol('fastify-tenant-auth.attended')

/**
 * The issuers whose tokens a service accepts; `undefined`: one that is not configured. `asked`: a
 * function tells, which may know many.
 */
export type AcceptedIssuers = readonly (string | undefined)[] | 'asked'

/** Which tokens a service accepts. */
export interface AcceptedTokens {
  readonly issuers: AcceptedIssuers
  /** Seconds beyond their end for which tokens are accepted. */
  readonly clockTolerance: number
}

/**
 * The part of a function that begins with the first installation of a service and ends with the
 * last one.
 */
export interface Lifecycle {
  /**
   * @param onFailure tells the operator of a failure, in constant text, at level error
   * @param accepted by the service that opens it
   * @param reports told of the failures of the application's functions behind this one
   */
  open(onFailure: (reason: string) => void, accepted?: AcceptedTokens, reports?: ReportsOf): void
  close(): void
  /** Whether the function can be asked now. */
  readonly isReady: boolean
  /** Of what it keeps of another server; undefined: nothing. */
  state(): DocumentState | undefined
}

/** The attendant of an option's value, where it has one. */
export function lifecycleOf(value: unknown): Lifecycle | undefined {
  if (typeof value !== 'function' || !isAttended(value)) return undefined
  return value[LIFECYCLE]
}

function isAttended(value: object): value is { readonly [LIFECYCLE]: Lifecycle } {
  return Object.hasOwn(value, LIFECYCLE)
}
