import type { TestContext } from 'node:test'
import { ageByDate } from '../processes/age-by-date.ts'
import type { ForgeKey } from '../tokens/forge.ts'

/** One answer, or none, of the endpoint of the keys. */
export interface Fetched {
  /** In milliseconds since the epoch. */
  readonly at: number
  readonly ok: boolean
}

export const VIRTUAL_URL = 'http://127.0.0.1:1/keys'

/** A JWKS endpoint and a clock that a test moves: what would take hours takes no time, and nothing is left to chance. */
export class VirtualAuthority {
  keys: readonly ForgeKey[] = []
  isDown = false
  /** What the endpoint answers with in place of the keys. */
  body: string | Uint8Array<ArrayBuffer> | undefined
  readonly fetched: Fetched[] = []
  readonly #t: TestContext

  /** Takes the place of the network and of the clock until the test ends. */
  constructor(t: TestContext) {
    this.#t = t
    t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_800_000_000_000 })
    ageByDate(t)
    t.mock.method(globalThis, 'fetch', async () => this.#answer())
  }

  /** Lets time go by, and what was due happen. */
  async move(seconds: number): Promise<void> {
    this.#t.mock.timers.tick(seconds * 1000)
    await settle()
  }

  #answer(): Response {
    this.fetched.push({ at: Date.now(), ok: !this.isDown })
    if (this.isDown) throw new TypeError('fetch failed')
    const jwks = { keys: this.keys.map((key) => key.publicJwk) }
    return new Response(this.body ?? JSON.stringify(jwks))
  }
}

/** Until all that has begun without a timer is over. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 4; round++) await new Promise(setImmediate)
}
