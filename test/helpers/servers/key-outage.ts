import type { TestContext } from 'node:test'
import type { AuthOptions } from '../../../lib/config/options.ts'
import { holdTime } from '../processes/age-by-date.ts'
import { encode, partsOf } from '../tokens/forge.ts'
import { goodToken, KEY, type Probe, startProbe } from '../tokens/probe.ts'
import { KeyServer } from './key-server.ts'

export interface KeyOutage extends Probe {
  readonly server: KeyServer
  /** What the server publishes from now on. */
  publish(...keys: unknown[]): void
  /** What the server publishes after it has answered one more request. */
  publishAfterNext(...keys: unknown[]): void
  /** Moves the clock, but no timer. */
  pass(seconds: number): void
}

/**
 * A probe with a key server that can be made to fail, on a clock that a test moves by hand. Options
 * that are not given have their defaults. The timers run, but no test waits for the defaults.
 */
export async function startKeyOutage(
  t: TestContext,
  options: AuthOptions = {},
  begin: (server: KeyServer) => Promise<void> = async () => {},
): Promise<KeyOutage> {
  holdTime(t, { apis: ['Date'], now: Date.now() })
  let keys: unknown[] = [KEY.publicJwk]
  let later: unknown[] | undefined
  const server = await KeyServer.start(() => {
    const answer = { keys }
    keys = later ?? keys
    later = undefined
    return answer
  })
  await begin(server)
  const probe = await startProbe(t, { publicKeysUrl: server.url, ...options })
  t.after(() => server.close())
  return {
    ...probe,
    server,
    publish(...published) {
      keys = published
    },
    publishAfterNext(...published) {
      later = published
    },
    pass: (seconds) => t.mock.timers.setTime(Date.now() + seconds * 1000),
  }
}

let serial = 0

/** A good token for a day. Each one is different. */
export function freshToken(): string {
  serial += 1
  return goodToken({ exp: Math.floor(Date.now() / 1000) + 86_400, jti: `${serial}` })
}

/** A token that is good except for a `kid` that no set has. Each one is different. */
export function unknownKeyToken(): string {
  const [, payload, signature] = partsOf(freshToken())
  const header = encode({ alg: KEY.alg, kid: `unknown-${serial}`, typ: 'at+jwt' })
  return `${header}.${payload}.${signature}`
}

/** A token that is good except for its signature. */
export function badlySignedToken(): string {
  const [header, , signature] = partsOf(freshToken())
  const [, payload] = partsOf(freshToken())
  return `${header}.${payload}.${signature}`
}
