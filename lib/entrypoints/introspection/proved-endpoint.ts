import { randomBytes } from 'node:crypto'
import type { AuthorizationServer } from 'oauth4webapi'
import { assertMetadataOf, metadataBy } from '../../identity/jwks/discovery.ts'
import { badStatus } from '../../platform/http/failure.ts'
import { clock } from '../../platform/runtime/clock.ts'
import { ignoreRejection } from '../../platform/runtime/maybe-promise.ts'
import { ownProperty } from '../../platform/runtime/own-property.ts'
import { BackOff } from '../../platform/runtime/timer.ts'
import {
  type AskEndpoint,
  clientAuthentications,
  endpointOf,
  type ServerMetadata,
} from './endpoint.ts'
import { asOpaqueFailure, type Exchanges, OpaqueFailure } from './exchanges.ts'
import { type IntrospectionRules, isServerAddress } from './introspection-options.ts'

/** Milliseconds after which an endpoint is looked for, and proved, anew. */
const MAX_AGE = 3_600_000

/** Milliseconds for which it serves beyond that, while its issuer cannot be reached. */
const MAX_STALE = 3_600_000

/** Seconds until an endpoint that is at fault is tried again. */
const REST = { retry: 1, retryMax: 30 }

/**
 * The endpoint that real tokens are sent to. It is proved before the first use, and each hour
 * again; one proof at a time, in the background if there is an endpoint. An endpoint that is
 * found at fault serves no more, and rests before the next proof.
 *
 * @param onFault the endpoint itself is at fault: every token is refused until it has been proved
 */
export function provedEndpoint(
  prove: () => Promise<AskEndpoint>,
  onFault: (failure: OpaqueFailure) => void,
  onProved: () => void,
) {
  const backOff = new BackOff(REST)
  let endpoint: AskEndpoint | undefined
  let failure = new OpaqueFailure('ERR_INTROSPECTION_NO_ANSWER')
  let running: Promise<AskEndpoint> | undefined
  // Readings of `clock`, in milliseconds.
  let provedAt = Number.NEGATIVE_INFINITY
  let dueAt = Number.NEGATIVE_INFINITY
  /** Many requests may find together that the endpoint is busy. Until then nothing is asked. */
  let busyUntil = Number.NEGATIVE_INFINITY

  async function attempt(): Promise<AskEndpoint> {
    try {
      endpoint = await prove()
    } catch (error) {
      failure = asOpaqueFailure(error)
      if (failure.isFault) endpoint = undefined
      // An outage is not remembered: without an endpoint, the next token asks again.
      const rests = failure.isFault || failure.isBusy || endpoint !== undefined
      dueAt = clock.now() + (rests ? backOff.next() : 0)
      if (failure.isBusy) busyUntil = dueAt
      if (failure.isFault) onFault(failure)
      throw failure
    }
    provedAt = clock.now()
    dueAt = provedAt + MAX_AGE
    backOff.reset()
    onProved()
    return endpoint
  }

  /** A proof that is under way, or begins. @throws OpaqueFailure */
  async function proveAgain(): Promise<AskEndpoint> {
    if (clock.now() < busyUntil) throw new OpaqueFailure('ERR_INTROSPECTION_BUSY')
    running ??= attempt().finally(() => {
      running = undefined
    })
    return running
  }

  /** @throws OpaqueFailure */
  async function get(): Promise<AskEndpoint> {
    const now = clock.now()
    if (now < busyUntil) throw new OpaqueFailure('ERR_INTROSPECTION_BUSY')
    if (now >= dueAt) ignoreRejection(proveAgain())
    if (endpoint !== undefined && now - provedAt < MAX_AGE + MAX_STALE) return endpoint
    if (running === undefined) throw failure
    return running
  }

  return { get, proveAgain }
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
): Promise<AskEndpoint> {
  const server = await serverMetadata(rules, exchanges)
  const methods =
    server.introspection_endpoint_auth_methods_supported ??
    server.token_endpoint_auth_methods_supported
  for (const authentication of clientAuthentications(rules.credentials, methods)) {
    const ask = endpointOf(rules, server, authentication, exchanges)
    if (await isProved(ask)) return ask
  }
  throw new OpaqueFailure('ERR_INTROSPECTION_CREDENTIALS')
}

/**
 * Asks about a random token, before any real one is sent. There are endpoints that call every token
 * active; such a one validates nothing. False: the endpoint refuses the credentials.
 *
 * @throws OpaqueFailure
 */
async function isProved(ask: AskEndpoint): Promise<boolean> {
  const token = randomBytes(32).toString('base64url')
  const answer = await ask(token).catch((error: unknown) => asOpaqueFailure(error))
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
