import type { FastifyBaseLogger } from 'fastify'
import type { KeyEvents } from './identity/jwks/key-source.ts'
import type { CallbackFailure, ReportFailure } from './platform/callbacks/call-with-timeout.ts'
import { changeReporter, reportChangedKeys } from './platform/http/document-status.ts'
import type { RemoteDocumentEvents } from './platform/http/remote-document.ts'
import { clock } from './platform/runtime/clock.ts'
import { logLine } from './platform/runtime/log-line.ts'
import { ownProperty } from './platform/runtime/own-property.ts'

const TEST_KEYS =
  'the keys are those of a test authority (npx fastify-tenant-auth authority), which signs what anybody asks for; never use it in production'

/** Milliseconds between two warnings of one function that fails in one way. */
const WARNING_INTERVAL = 60_000

/** Most reasons for which one function has a warning each in that time. */
const MAX_REASONS = 100

/** The messages of a service to its operator between requests, in the log of an application. */
export class OperatorLog {
  readonly #find: () => FastifyBaseLogger | undefined
  readonly #warnings = new Map<string, Warnings>()

  /** @param find the current log; undefined: the service is installed nowhere */
  constructor(find: () => FastifyBaseLogger | undefined) {
    this.#find = find
  }

  /** Logs a failure that needs the operator. */
  error(reason: string): void {
    this.#find()?.error(`tenant auth: ${reason}`)
  }

  /** Logs a cost that can be avoided, or a limit that is close. */
  warn(reason: string): void {
    this.#find()?.warn(`tenant auth: ${reason}`)
  }

  /**
   * Logs the failures of a function of the application: each at level debug, and each kind once a
   * minute at level warn.
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

  keys(issuer: string): KeyEvents {
    return {
      ...this.document('keys', issuer, { issuer }),
      onTestKeys: () => {
        this.#find()?.warn({ issuer }, `tenant auth: ${TEST_KEYS}`)
      },
      onChangedKeys: (changes) => reportChangedKeys(issuer, changes),
    }
  }

  /**
   * The events of a document of another server, for the log and the channel.
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

/** The warnings about the failures of one function. */
class Warnings {
  /** The time of the last warning for each reason, by `clock`; the oldest first. */
  readonly #times = new Map<string, number>()

  /** A reason may name a customer. After too many reasons, one of each kind is due. */
  isDue({ kind, reason }: CallbackFailure): boolean {
    const now = clock.now()
    for (const [old, time] of this.#times) {
      if (now - time < WARNING_INTERVAL) break
      this.#times.delete(old)
    }
    const isOneTooMany = this.#times.size >= MAX_REASONS && !this.#times.has(reason)
    const key = isOneTooMany ? kind : reason
    if (this.#times.has(key)) return false
    this.#times.set(key, now)
    return true
  }
}

function write(
  log: FastifyBaseLogger,
  level: 'warn' | 'debug',
  name: string,
  failure: CallbackFailure,
): void {
  const { reason } = failure
  const about = { function: name, reason }
  logLine(log, level, `tenant auth: ${name} ${reason}`, about, ownProperty(failure, 'error'))
}
