import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { hangingFaults, keyFaults } from './key-faults.ts'

/** Every fault by name; `refused`: no server listens. */
export type FaultName = keyof typeof keyFaults | keyof typeof hangingFaults | 'refused'

export const faultNames: readonly FaultName[] = [
  ...namesOf(keyFaults),
  ...namesOf(hangingFaults),
  'refused',
]

/**
 * The key endpoint of an authorization server. It can be made to fail, and it counts its requests.
 * It answers with what `keys` gives at the time of the request.
 */
export class KeyServer {
  /**
   * When each request for the keys came, in milliseconds of a clock that stands outside the test's
   * clock.
   */
  readonly times: number[] = []
  /** Most requests that were open at one time. */
  mostAtOnce = 0
  /** Requests for the address that the redirects point to. */
  targetHits = 0

  readonly #keys: () => unknown
  #server: Server
  #port = 0
  #fault: FaultName | null = null
  #underWay = 0

  constructor(keys: () => unknown) {
    this.#keys = keys
    this.#server = this.#create()
  }

  static async start(keys: () => unknown): Promise<KeyServer> {
    const server = new KeyServer(keys)
    await server.#listen()
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/public_keys`
  }

  get fetches(): number {
    return this.times.length
  }

  /** The fault from now on; null: it is well again. */
  async fail(fault: FaultName | null): Promise<void> {
    this.#fault = fault
    if (fault === 'refused') await this.close()
    else if (!this.#server.listening) await this.#listen()
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  #create(): Server {
    return createServer((request, response) => {
      if (request.url === '/elsewhere') {
        this.targetHits += 1
        response.end(JSON.stringify(this.#keys()))
      } else {
        this.#answer(response)
      }
    })
  }

  #answer(response: ServerResponse): void {
    this.times.push(performance.now())
    this.#underWay += 1
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#underWay)
    response.once('close', () => {
      this.#underWay -= 1
    })
    const good = JSON.stringify(this.#keys())
    const target = `http://127.0.0.1:${this.#port}/elsewhere`
    const fault = this.#fault === null ? undefined : faults.get(this.#fault)
    if (fault) fault({ response, good, target })
    else response.setHeader('content-type', 'application/jwk-set+json').end(good)
  }

  async #listen(): Promise<void> {
    this.#server = this.#create()
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    if (typeof address === 'object' && address !== null) this.#port = address.port
  }
}

const faults = new Map<FaultName, (typeof keyFaults)[keyof typeof keyFaults]>([
  ...entriesOf(keyFaults),
  ...entriesOf(hangingFaults),
])

function namesOf<T extends object>(object: T): (keyof T)[] {
  return entriesOf(object).map(([name]) => name)
}

function entriesOf<T extends object>(object: T): [keyof T, T[keyof T]][] {
  const names = (name: string): name is Extract<keyof T, string> => Object.hasOwn(object, name)
  return Object.keys(object)
    .filter(names)
    .map((name) => [name, object[name]])
}
