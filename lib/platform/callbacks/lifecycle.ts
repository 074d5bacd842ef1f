import type { DocumentState } from '../http/document-status.ts'
import type { CallbackFailure, ReportFailure } from './call-with-timeout.ts'

// Outside: functions that an application got from one of our entry points and gave back as an
// option, to several services perhaps. Some hold a connection or a timer, which must begin and end
// with them.

/** The work of a function between its calls. */
interface LifecycleWork {
  begin?(): void
  end(): void
  readonly isReady?: boolean
  state?(): DocumentState | undefined
}

/**
 * The issuers whose tokens a service accepts; `undefined`: one that is not configured. `dynamic`:
 * those that a function knows, which may be many.
 */
export type AcceptedIssuers = readonly (string | undefined)[] | 'dynamic'

export interface AcceptedTokens {
  readonly issuers: AcceptedIssuers
  /** Seconds beyond their end for which tokens are accepted. */
  readonly clockTolerance: number
}

/** The log of a service. */
interface ServiceLog {
  /** Logs a failure, in constant text. */
  error(reason: string): void
  /** The logger of the failures of a function of the application, by its name. */
  callback(name: string): ReportFailure
}

/** Most failures that are logged until the function works again. */
const MOST_LOGGED = 20

/**
 * The part of a function that begins with the first service that uses it, and ends with the last
 * one. A failure is logged by each service once, and not again before the function has worked.
 */
export class Lifecycle {
  readonly #work: LifecycleWork
  readonly #logs: ServiceLog[] = []
  readonly #issuers = new Set<string | undefined>()
  #hasDynamicIssuers = false
  #clockTolerance = 0
  #services = 0
  /** The failures that are logged since the function has worked. */
  readonly #logged = new Set<string>()

  constructor(work: LifecycleWork) {
    this.#work = work
  }

  /** The function can be called now. */
  get isReady(): boolean {
    return this.#work.isReady ?? true
  }

  /**
   * The services accept tokens of several issuers together. The issuers of a closed service count
   * until the last service closes.
   */
  get hasSeveralIssuers(): boolean {
    return this.#hasDynamicIssuers || this.#issuers.size > 1
  }

  /** Tokens of an issuer may be accepted. Undefined among the issuers stands for any. */
  accepts(issuer: string): boolean {
    const issuers = this.#issuers
    if (this.#hasDynamicIssuers || issuers.size === 0 || issuers.has(undefined)) return true
    return issuers.has(issuer)
  }

  /** Seconds; the greatest of the services. */
  get clockTolerance(): number {
    return this.#clockTolerance
  }

  /** The state of a copy of another server's data; undefined: the function has none. */
  state(): DocumentState | undefined {
    return this.#work.state?.()
  }

  /** Both are of the service that opens it. */
  open(log: ServiceLog, { issuers, clockTolerance }: AcceptedTokens): void {
    this.#services += 1
    this.#logs.push(log)
    if (issuers === 'dynamic') this.#hasDynamicIssuers = true
    else for (const issuer of issuers) this.#issuers.add(issuer)
    this.#clockTolerance = Math.max(this.#clockTolerance, clockTolerance)
    // A service that comes later logs the failure too.
    this.#logged.clear()
    if (this.#services === 1) this.#work.begin?.()
  }

  close(): void {
    this.#services -= 1
    if (this.#services > 0) return
    this.#logs.length = 0
    this.#issuers.clear()
    this.#hasDynamicIssuers = false
    this.#clockTolerance = 0
    this.#work.end()
  }

  /** @param reason constant text */
  logFailure(reason: string): void {
    if (this.#logged.has(reason) || this.#logged.size >= MOST_LOGGED) return
    this.#logged.add(reason)
    for (const log of this.#logs) log.error(reason)
  }

  /** @param name of the application's function that failed */
  report(name: string, failure: CallbackFailure): void {
    for (const log of this.#logs) log.callback(name)(failure)
  }

  /** The function works, so the next failure is a new one. */
  logSuccess(): void {
    this.#logged.clear()
  }
}

/** The key of a function's lifecycle. Other code cannot name it. */
export const LIFECYCLE: unique symbol = Symbol('fastify-tenant-auth.lifecycle')

/** The lifecycle of an option's value; undefined: it has none. */
export function lifecycleOf(value: unknown): Lifecycle | undefined {
  return typeof value === 'function' && hasLifecycle(value) ? value[LIFECYCLE] : undefined
}

function hasLifecycle(value: object): value is { readonly [LIFECYCLE]: Lifecycle } {
  return Object.hasOwn(value, LIFECYCLE)
}
