import { randomBytes } from 'node:crypto'
import type { AuthorizationServer } from 'oauth4webapi'
import { assertMetadataOf, metadataBy } from '../../identity/jwks/discovery.ts'
import { badStatus } from '../../platform/http/failure.ts'
import { clock } from '../../platform/runtime/clock.ts'
import { ignoreRejection } from '../../platform/runtime/maybe-promise.ts'
import { ownProperty } from '../../platform/runtime/own-property.ts'
import { BackOff } from '../../platform/runtime/timer.ts'
import { clientAuthentications, IntrospectionEndpoint, type ServerMetadata } from './endpoint.ts'
import type { Exchanges } from './exchanges.ts'
import { asOpaqueFailure, OpaqueFailure } from './introspection-error.ts'
import { type IntrospectionRules, isServerAddress } from './introspection-options.ts'

/** Milliseconds after which an endpoint is looked for, and proved, anew. */
const MAX_AGE = 3_600_000

/** Milliseconds for which it serves beyond that, while its issuer cannot be reached. */
const MAX_STALE = 3_600_000

/** Seconds until an endpoint that is at fault is tried again. */
const REST = { retry: 1, retryMax: 30 }

interface ProvedEndpointEvents {
  /** The endpoint itself is at fault: every token is refused until it has been proved. */
  onFault(failure: OpaqueFailure): void
  onProved(): void
}

/**
 * The endpoint that real tokens are sent to. It is proved before the first use, and each hour
 * again; one proof at a time, in the background if there is an endpoint. An endpoint that is
 * found at fault serves no more, and rests before the next proof.
 */
export class ProvedEndpoint {
  readonly #prove: () => Promise<IntrospectionEndpoint>
  readonly #events: ProvedEndpointEvents
  readonly #backOff = new BackOff(REST)
  #endpoint: IntrospectionEndpoint | undefined
  #failure = new OpaqueFailure('ERR_INTROSPECTION_NO_ANSWER')
  #running: Promise<IntrospectionEndpoint> | undefined
  // Readings of `clock`, in milliseconds.
  #provedAt = Number.NEGATIVE_INFINITY
  #dueAt = Number.NEGATIVE_INFINITY
  /** Until then nothing is asked. */
  #busyUntil = Number.NEGATIVE_INFINITY

  constructor(prove: () => Promise<IntrospectionEndpoint>, events: ProvedEndpointEvents) {
    this.#prove = prove
    this.#events = events
  }

  /** @throws OpaqueFailure */
  async get(): Promise<IntrospectionEndpoint> {
    const now = clock.now()
    if (this.#isResting) throw new OpaqueFailure('ERR_INTROSPECTION_BUSY')
    if (now >= this.#dueAt) ignoreRejection(this.proveAgain())
    if (this.#endpoint !== undefined && now - this.#provedAt < MAX_AGE + MAX_STALE) {
      return this.#endpoint
    }
    if (this.#running === undefined) throw this.#failure
    return this.#running
  }

  /** A proof that is under way, or begins. @throws OpaqueFailure */
  proveAgain(): Promise<IntrospectionEndpoint> {
    if (this.#isResting) return Promise.reject(new OpaqueFailure('ERR_INTROSPECTION_BUSY'))
    this.#running ??= this.#attempt().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** Many requests may find together that the endpoint is busy. One proof is enough. */
  get #isResting(): boolean {
    return clock.now() < this.#busyUntil
  }

  async #attempt(): Promise<IntrospectionEndpoint> {
    try {
      const endpoint = await this.#prove()
      this.#succeeded(endpoint)
      return endpoint
    } catch (error) {
      const failure = asOpaqueFailure(error)
      this.#failed(failure)
      throw failure
    }
  }

  #succeeded(endpoint: IntrospectionEndpoint): void {
    this.#endpoint = endpoint
    this.#provedAt = clock.now()
    this.#dueAt = this.#provedAt + MAX_AGE
    this.#backOff.reset()
    this.#events.onProved()
  }

  #failed(failure: OpaqueFailure): void {
    this.#failure = failure
    if (failure.isFault) this.#endpoint = undefined
    // An outage is not remembered: without an endpoint, the next token asks again.
    const rests = failure.isFault || failure.isBusy || this.#endpoint !== undefined
    this.#dueAt = clock.now() + (rests ? this.#backOff.next() : 0)
    if (failure.isBusy) this.#busyUntil = this.#dueAt
    if (failure.isFault) this.#events.onFault(failure)
  }
}

/**
 * The endpoint that may be sent real tokens: discovered, and proved by a random one, with the first
 * way to prove oneself that it does not refuse.
 *
 * @throws OpaqueFailure
 */
export async function findEndpoint(
  rules: IntrospectionRules,
  exchanges: Exchanges,
): Promise<IntrospectionEndpoint> {
  const server = await serverMetadata(rules, exchanges)
  const methods =
    server.introspection_endpoint_auth_methods_supported ??
    server.token_endpoint_auth_methods_supported
  for (const authentication of clientAuthentications(rules.credentials, methods)) {
    const endpoint = new IntrospectionEndpoint(rules, server, authentication, exchanges)
    if (await isProved(endpoint)) return endpoint
  }
  throw new OpaqueFailure('ERR_INTROSPECTION_CREDENTIALS')
}

/** Bytes of the random token: as many as nobody guesses. */
const LENGTH = 32

/**
 * Asks about a random token, before any real one is sent. There are endpoints that call every token
 * active; such a one validates nothing. False: the endpoint refuses the credentials.
 *
 * @throws OpaqueFailure
 */
async function isProved(endpoint: IntrospectionEndpoint): Promise<boolean> {
  const token = randomBytes(LENGTH).toString('base64url')
  const answer = await endpoint.ask(token).catch((error: unknown) => asOpaqueFailure(error))
  if (answer instanceof OpaqueFailure) {
    if (answer.refusesClient) return false
    throw answer
  }
  if (ownProperty(answer, 'active') === false) return true
  throw new OpaqueFailure('ERR_INTROSPECTION_ALL_ACTIVE')
}

/**
 * The server that is asked: as configured, or discovered from its issuer (OpenID Connect Discovery
 * §4, RFC 8414 §3). The keys of signed answers are always discovered.
 *
 * @throws OpaqueFailure
 */
async function serverMetadata(
  { issuer, url, signed }: IntrospectionRules,
  exchanges: Exchanges,
): Promise<ServerMetadata> {
  if (url !== undefined && !signed) return { issuer, introspection_endpoint: url }
  const metadata = await discover(issuer, exchanges)
  const endpoint = url ?? ownProperty(metadata, 'introspection_endpoint')
  const keys = ownProperty(metadata, 'jwks_uri')
  if (isServerAddress(endpoint) && (!signed || isServerAddress(keys))) {
    return { ...metadata, introspection_endpoint: endpoint }
  }
  throw new OpaqueFailure('ERR_INTROSPECTION_METADATA')
}

async function discover(issuer: string, { fetch }: Exchanges): Promise<AuthorizationServer> {
  const read = async (url: string): Promise<unknown> => {
    const response = await fetch(url, { method: 'GET', headers: { accept: 'application/json' } })
    if (response.status !== 200) throw badStatus(response.status)
    return response.json()
  }
  try {
    const metadata = await metadataBy(read, issuer)
    assertMetadataOf(issuer, metadata)
    return { ...metadata, issuer }
  } catch (error) {
    // Other errors may hold words of the server.
    throw asOpaqueFailure(error, 'ERR_INTROSPECTION_METADATA')
  }
}
