import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { RouteRegister } from './declaration/route-register.ts'

/** The applications that a service is installed in, until they have closed. */
export class Installations {
  readonly #registers = new Map<FastifyInstance, RouteRegister>()
  readonly #closing = new Set<FastifyInstance>()

  add(app: FastifyInstance, register: RouteRegister): void {
    this.#registers.set(app, register)
  }

  /** @param app not given: all of them */
  registers(app?: object): RouteRegister[] {
    return [...this.#registers]
      .filter(([installed]) => app === undefined || installed === app)
      .map(([, register]) => register)
  }

  /** Of the first application: the service has none of its own. */
  get log(): FastifyBaseLogger | undefined {
    const [app] = this.#registers.keys()
    return app?.log
  }

  /** Told when an application begins to close. Returns whether all of them have begun to. */
  beginClose(app: FastifyInstance): boolean {
    this.#closing.add(app)
    return this.#closing.size === this.#registers.size
  }

  /** Returns whether it was the last one. */
  remove(app: FastifyInstance): boolean {
    this.#closing.delete(app)
    this.#registers.delete(app)
    return this.#registers.size === 0
  }
}
