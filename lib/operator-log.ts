import type { FastifyBaseLogger } from 'fastify'
import type { KeyEvents } from './keys/key-source.ts'
import { tellingOf } from './outside/document-event.ts'
import type { RemoteDocumentEvents } from './outside/remote-document.ts'

const TEST_KEYS =
  'the keys are those of a test authority (npx fastify-tenant-auth authority), which signs what anybody asks for; never use it in production'

/** What a service tells its operator between requests, by the log of an application. */
export class OperatorLog {
  readonly #find: () => FastifyBaseLogger | undefined

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
