import type { FastifyBaseLogger } from 'fastify'
import type { KeyEvents } from './keys/key-source.ts'
import type { CallbackFailure, ReportFailure } from './outside/ask-application.ts'
import { clock } from './outside/clock.ts'
import { tellingOf } from './outside/document-event.ts'
import type { RemoteDocumentEvents } from './outside/remote-document.ts'

const TEST_KEYS =
  'the keys are those of a test authority (npx fastify-tenant-auth authority), which signs what anybody asks for; never use it in production'

/** Milliseconds between two warnings of one function that fails in one way. */
const WARNED_FOR = 60_000

/** Most ways to fail that are told apart in that time, over all functions. */
const MOST_KINDS = 200

/** What a service tells its operator between requests, by the log of an application. */
export class OperatorLog {
  readonly #find: () => FastifyBaseLogger | undefined
  /** When a function and its way to fail were told at level warn, by `clock`. */
  readonly #warned = new Map<string, number>()

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
    return (failure) => {
      const log = this.#find()
      if (log === undefined) return
      if (this.#isDue(`${name} ${failure.reason}`)) write(log, 'warn', name, failure)
      write(log, 'debug', name, failure)
    }
  }

  /** Kinds that nobody has told of for a minute make room; where none has, the new one waits. */
  #isDue(kind: string): boolean {
    const now = clock.now()
    if (now - (this.#warned.get(kind) ?? Number.NEGATIVE_INFINITY) < WARNED_FOR) return false
    this.#warned.delete(kind)
    if (this.#warned.size >= MOST_KINDS) {
      for (const [old, time] of this.#warned) {
        if (now - time < WARNED_FOR) return false
        this.#warned.delete(old)
      }
    }
    this.#warned.set(kind, now)
    return true
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
      onChange: tellingOf(what, name),
      onFailure: (reason, url) => {
        this.#find()?.warn({ ...about, reason, url }, `tenant auth: ${what} cannot be fetched`)
      },
    }
  }
}

/** What was thrown may be anything. Where its members cannot be read, it is left out. */
function write(
  log: FastifyBaseLogger,
  level: 'warn' | 'debug',
  name: string,
  { reason, error }: CallbackFailure,
): void {
  const about = { function: name, reason }
  const message = `tenant auth: ${name} ${reason}`
  try {
    log[level](error === undefined ? about : { ...about, err: error }, message)
  } catch {
    log[level](about, message)
  }
}
