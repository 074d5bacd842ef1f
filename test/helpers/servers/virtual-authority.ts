import type { TestContext } from 'node:test'
import { holdTime } from '../processes/age-by-date.ts'
import type { ForgeKey } from '../tokens/forge.ts'

/** One answer of the key endpoint, or a failure. */
export interface Fetched {
  /** In milliseconds since the epoch. */
  readonly at: number
  readonly ok: boolean
}

export const VIRTUAL_URL = 'http://127.0.0.1:1/keys'

/**
 * A JWKS endpoint and a clock that a test moves. So hours take no time, and each run is the same.
 */
export class VirtualAuthority {
  keys: readonly ForgeKey[] = []
  isDown = false
  /** What the endpoint answers with in place of the keys. */
  body: string | Uint8Array<ArrayBuffer> | undefined
  readonly fetched: Fetched[] = []
  readonly #t: TestContext

  /** Replaces the network and the clock until the test ends. */
  constructor(t: TestContext) {
    this.#t = t
    holdTime(t, { apis: ['Date', 'setTimeout'], now: 1_800_000_000_000 })
    t.mock.method(globalThis, 'fetch', async () => this.#answer())
  }

  /** Lets time go by, and runs what was due. */
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

/** Waits until all work without a timer is done. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 4; round++) await new Promise(setImmediate)
}
