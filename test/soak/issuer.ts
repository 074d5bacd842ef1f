import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { hangingFaults, keyFaults } from '../helpers/servers/key-faults.ts'
import { type ForgeKey, forge, forgeKey } from '../helpers/tokens/forge.ts'
import type { Claims, Jwt } from './token.ts'
import type { TrustedIssuer, World } from './world.ts'

/** How a key server fails; `refused`: no server listens. */
export const KEY_FAULTS = [
  'status 500',
  'status 503',
  'a redirect',
  'a reset',
  'truncated text',
  'a page',
  'no keys',
  'no answer',
  'a body that stops',
  'a dripping body',
  'refused',
] as const

export type KeyFault = (typeof KEY_FAULTS)[number]

const FAULTS = { ...keyFaults, ...hangingFaults }

/** An authorization server: its keys, the address where it publishes them, and its tokens. */
export class Issuer {
  readonly name: string
  /** The algorithm of its keys. */
  readonly alg: string
  readonly trusted: TrustedIssuer
  readonly #server: Server
  #port = 0
  #serial = 1
  #fault: KeyFault | null = null
  /** Signs with the last one. */
  #keys: readonly ForgeKey[]
  #published: readonly ForgeKey[]

  /** @param world learns all that is published and served */
  constructor(name: string, alg: string, tenants: '*' | readonly string[], world: World) {
    this.name = name
    this.alg = alg
    this.#keys = [forgeKey(alg, `${name}-1`)]
    this.#published = this.#keys
    this.trusted = world.trust(`https://${name}.test`, tenants, new Set([`${name}-1`]))
    this.#server = createServer(({ url }, response) =>
      this.#answer(Number(url?.slice(1)), response),
    )
  }

  async listen(): Promise<void> {
    this.#port = await listenOn(this.#server, this.#port)
  }

  /** What a process trusts of it. Each has its own address, so that its fetches are known. */
  rulesFor(process: number) {
    const { issuer, tenants } = this.trusted
    return { issuer, tenants, publicKeysUrl: `http://127.0.0.1:${this.#port}/${process}` }
  }

  /** A new key, which signs from now on. */
  renewKey(): void {
    this.#serial += 1
    this.#keys = [...this.#keys.slice(-2), forgeKey(this.alg, `${this.name}-${this.#serial}`)]
  }

  /** Publishes the newest keys, and no others. */
  publish(count: number): void {
    this.#published = this.#keys.slice(-count)
    this.trusted.published.change(new Set(this.#published.map(({ kid }) => kid)))()
  }

  /** Signs with the newest key, or the one before. */
  sign(claims: Claims, age = 0, typ = 'at+jwt'): Jwt {
    const key = this.#keyOf(age)
    const text = forge(key, { header: { typ }, payload: claims })
    return { kind: 'jwt', text, claims, typ, kid: key.kid, isGenuine: true, isSigned: true }
  }

  /** The name of the newest key, for tokens that it has not signed. */
  get kid(): string {
    return this.#keyOf(0).kid
  }

  /** How it fails from now on; null: it is well again. */
  async fail(fault: KeyFault | null): Promise<void> {
    const { outages } = this.trusted
    if (fault !== null) outages.begin()
    this.#fault = fault
    if (fault === 'refused') await this.close()
    else if (!this.#server.listening) await this.listen()
    if (fault === null) outages.end()
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  #keyOf(age: number): ForgeKey {
    const key = this.#keys.at(-1 - age) ?? this.#keys.at(-1)
    if (key === undefined) throw new Error('an issuer has a key')
    return key
  }

  #answer(process: number, response: ServerResponse): void {
    const good = JSON.stringify({ keys: this.#published.map(({ publicJwk }) => publicJwk) })
    if (this.#fault !== null && this.#fault !== 'refused') {
      const target = `http://127.0.0.1:${this.#port}/${process}`
      FAULTS[this.#fault]({ response, good, target })
      return
    }
    response.setHeader('content-type', 'application/jwk-set+json').end(good)
    this.trusted.served[process]?.serve(new Set(this.#published.map(({ kid }) => kid)))
  }
}

/**
 * Listens on a port of loopback; 0: any free one. A port that was given up may have been taken
 * meanwhile: it is waited for. Returns the port.
 */
async function listenOn(server: Server, port: number): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    try {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      const address = server.address()
      if (typeof address === 'object' && address !== null) return address.port
      throw new Error('the server has no port')
    } catch (error) {
      if (attempt >= 100) throw error
      await wait(100)
    }
  }
}
