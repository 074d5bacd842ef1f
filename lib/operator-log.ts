import type { FastifyBaseLogger } from 'fastify'
import type { KeyEvents } from './identity/jwks/key-source.ts'
import type { CallbackFailure, ReportFailure } from './platform/callbacks/call-with-timeout.ts'
import { changeReporter } from './platform/http/document-status.ts'
import type { RemoteDocumentEvents } from './platform/http/remote-document.ts'
import { clock } from './platform/runtime/clock.ts'
import { ownProperty } from './platform/runtime/own-property.ts'

const TEST_KEYS =
  'the keys are those of a test authority (npx fastify-tenant-auth authority), which signs what anybody asks for; never use it in production'

/** Milliseconds between two warnings of one function that fails in one way. */
const WARNED_FOR = 60_000

/** Most ways to fail of one function that are told apart in that time. */
const MOST_KINDS = 100

/** What a service tells its operator between requests, by the log of an application. */
export class OperatorLog {
  readonly #find: () => FastifyBaseLogger | undefined
  /** By the names of the functions. */
  readonly #warnings = new Map<string, Warnings>()

  /** @param find the log of now; undefined: the service is installed nowhere */
  constructor(find: () => FastifyBaseLogger | undefined) {
    this.#find = find
  }

  /** Something does not work until the operator mends it. */
  error(reason: string): void {
    this.#find()?.error(`tenant auth: ${reason}`)
  }

  /** Something costs more than it need, or comes close to a limit. */
  warn(reason: string): void {
    this.#find()?.warn(`tenant auth: ${reason}`)
  }

  /**
   * What is told of the failures of a function of the application: each at level debug, and each
   * kind once a minute at level warn.
   *
   * @param name as the application knows it
   */
  callback(name: string): ReportFailure {
    const warnings = this.#warnings.get(name) ?? new Warnings()
    this.#warnings.set(name, warnings)
    return (failure) => {
      const log = this.#find()
      if (log === undefined) return
      if (warnings.isDue(failure)) write(log, 'warn', name, failure)
      write(log, 'debug', name, failure)
    }
  }

  /** What is told of the keys of an issuer, by its name. */
  keys(issuer: string): KeyEvents {
    return {
      ...this.document('keys', issuer, { issuer }),
      onTestKeys: () => {
        this.#find()?.warn({ issuer }, `tenant auth: ${TEST_KEYS}`)
      },
    }
  }

  /**
   * What is told of a document of another server, here and by the channel.
   *
   * @param about members of each line
   */
  document(what: 'keys' | 'tenants', name: string, about: object = {}): RemoteDocumentEvents {
    return {
      onChange: changeReporter(what, name),
      onFailure: (reason, url) => {
        this.#find()?.warn({ ...about, reason, url }, `tenant auth: ${what} cannot be fetched`)
      },
    }
  }
}

/** The warnings of one function's failures. */
class Warnings {
  /** When each way to fail was told, by `clock`; the oldest first. */
  readonly #times = new Map<string, number>()

  /** What it names may be a customer's. Of too many names, one failure of each kind is told. */
  isDue({ kind, reason }: CallbackFailure): boolean {
    const now = clock.now()
    for (const [old, time] of this.#times) {
      if (now - time < WARNED_FOR) break
      this.#times.delete(old)
    }
    const isOneTooMany = this.#times.size >= MOST_KINDS && !this.#times.has(reason)
    const way = isOneTooMany ? kind : reason
    if (this.#times.has(way)) return false
    this.#times.set(way, now)
    return true
  }
}

/**
 * What was thrown may be anything. Where its members cannot be read, it is left out. A logger that
 * throws costs no request.
 */
function write(
  log: FastifyBaseLogger,
  level: 'warn' | 'debug',
  name: string,
  failure: CallbackFailure,
): void {
  const { reason } = failure
  const error = ownProperty(failure, 'error')
  const about = { function: name, reason }
  const message = `tenant auth: ${name} ${reason}`
  for (const told of [error === undefined ? about : { ...about, err: error }, about]) {
    try {
      log[level](told, message)
      return
    } catch {
      // Without the error, if anything.
    }
  }
}
