import { channel } from 'node:diagnostics_channel'
import * as Type from '@sinclair/typebox'
import type { FastifyInstance, FastifyRegisterOptions, FastifyReply, FastifyRequest } from 'fastify'
import { entryPointOptions } from '../../config/option-reader.ts'
import { Custom, List, TextThat } from '../../config/option-types.ts'
import { withoutRegisterOptions } from '../../config/problems.ts'
import {
  AuthError,
  ERR_AUTH_CONFIG_INVALID,
  ERR_AUTH_REVOCATION_UNAVAILABLE,
} from '../../errors.ts'
import { mismatchOf } from '../../guard/error-response.ts'
import { installedGuards } from '../../guard/scopes.ts'
import { isDenyList } from '../../identity/authentication/revocation-check.ts'
import type { Logout } from '../../identity/jwt/logout-token.ts'
import { tokenRefusal } from '../../identity/jwt/token-refusal.ts'
import { errorCode, isThrown, withoutStack } from '../../platform/runtime/error.ts'
import { logLine } from '../../platform/runtime/log-line.ts'
import { isWithin } from '../../routes/fastify-scope.ts'
import type { DenyList } from './deny-list.ts'
import type { DenyEntry } from './entry.ts'

/** The options of `backchannelLogout`. */
export interface BackchannelLogoutOptions {
  /** The deny list that is the option `isRevoked` of the guard. */
  readonly revoked: DenyList
  /**
   * The ids of the clients whose users are logged out: the `aud` of logout tokens. They are those
   * of the front ends, at which users log in, not that of the API.
   */
  readonly clients: readonly string[]
  /** The path of the route; a prefix comes before it. @default '/backchannel-logout' */
  readonly url?: string
  /**
   * For access tokens that carry no `sid`: a logout of one session ends all tokens of its user that
   * were issued up to then, those of other sessions too. `subject`: whoever the issuer is. A list:
   * of these issuers. Not given: a logout that names a session ends that one.
   */
  readonly sessionless?: 'subject' | readonly string[]
}

const Several = List(Type.String({ minLength: 1 }))

const MEMBERS = {
  revoked: Custom('a deny list, as denyList() makes it', (value): value is DenyList =>
    isDenyList(value),
  ),
  clients: { ...Several, uniqueItems: true, expected: 'a list of different client ids' },
  url: TextThat(
    'a path without parameters, such as /backchannel-logout',
    (url) => /^\/[^:*?#\s]*$/.test(url),
    { default: '/backchannel-logout' },
  ),
  sessionless: Type.Optional(
    Type.Union([Type.Literal('subject'), Several], { expected: "'subject' or a list of issuers" }),
  ),
}

/** Bytes of a form, whatever `bodyLimit` says. */
const MOST_BYTES = 16_384

/**
 * Adds the route at which authorization servers say that a user has logged out (OpenID Connect
 * Back-Channel Logout 1.0): a `noauth` POST, whose logout tokens become entries of the deny list.
 * They are verified by the issuers and keys of the guard, so that each issuer logs out its own
 * users only.
 *
 * 200: the entry is kept for all processes. 400: the token is not valid. 413, 415: the body is no
 * form of 16 KiB. 503: it cannot be decided or kept now, and the sender may try again.
 *
 * @example
 * await app.register(tenantAuth, { issuer, audience, isRevoked: revoked })
 * await app.register(backchannelLogout, { revoked, clients: ['lunch-web'] })
 * @throws ERR_AUTH_CONFIG_INVALID at boot: without a guard that is there before it and has
 * `revoked` as `isRevoked`, and for a bad option
 */
export async function backchannelLogout(
  app: FastifyInstance,
  given: FastifyRegisterOptions<BackchannelLogoutOptions>,
): Promise<void> {
  const loaded = logoutOptions(app, given)
  // A scope of its own: an application may call this function itself, and has other bodies.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, body, done) => done(null, body),
    )
    scope.post(
      loaded.options.url,
      { config: { noauth: true }, bodyLimit: MOST_BYTES, errorHandler: refuseBody },
      (request, reply) => receive(request, reply, loaded),
    )
  })
}

const NAME = 'backchannelLogout'

/** @throws ERR_AUTH_CONFIG_INVALID */
function logoutOptions(app: FastifyInstance, given: object) {
  const options = entryPointOptions(NAME, withoutRegisterOptions(given), MEMBERS).finish()
  const guard = installedGuards(app).find(({ scope }) => isWithin(scope, app))
  if (guard === undefined) throw misplaced('a scope that is guarded already', 'no guard')
  const { settings, issuers } = guard.loaded
  if (settings.isRevoked !== options.revoked) {
    throw misplaced('revoked to be the isRevoked of the guard', 'another one')
  }
  const { sessionless } = options
  // An issuer that nobody accepts is misspelt, and its users would not be logged out.
  if (Array.isArray(sessionless) && typeof issuers !== 'function' && !settings.devMode) {
    const accepts = (iss: string) => issuers.some(({ issuer }) => issuer?.includes(iss) ?? true)
    if (!sessionless.every(accepts)) {
      throw misplaced('issuers of the guard in sessionless', 'another one')
    }
  }
  return { options, guard }
}

function misplaced(expected: string, found: string): ERR_AUTH_CONFIG_INVALID {
  return new ERR_AUTH_CONFIG_INVALID(`${NAME}: expected ${expected}, found ${found} (code)`)
}

async function receive(
  request: FastifyRequest,
  reply: FastifyReply,
  { options, guard: { authenticator, waits } }: ReturnType<typeof logoutOptions>,
): Promise<FastifyReply> {
  let logout: Logout | null = null
  try {
    const token = tokenIn(request.body)
    const verified = await authenticator.verifyLogout(token, options.clients, waits)
    if (verified instanceof AuthError) throw verified
    logout = verified
    const added = entriesOf(logout, options).map((entry) => options.revoked.add(entry))
    await waits.waitFor(Promise.all(added), ended)
  } catch (error) {
    if (!isThrown(error, AuthError)) throw error
    return refuse(request, reply, error, logout)
  }
  publishLogout(logout, 'accepted', null)
  return reply.code(200).header('cache-control', 'no-store').send()
}

/** The fields whose name may be `logout_token`, in whatever spelling. */
const MAY_BE_TOKENS = /(?<=^|&)(?:l|%6c)[^&]{11,}/gi

/** Most of them that are decoded. More than one token is refused in any case. */
const MOST_FIELDS = 50

/**
 * The one logout token of a form. Its other fields do not count.
 *
 * @throws ERR_AUTH_TOKEN_INVALID
 */
function tokenIn(body: unknown): string {
  // To decode thousands of other fields costs more than a signature.
  const fields = (typeof body === 'string' && body.match(MAY_BE_TOKENS)) || []
  if (fields.length > MOST_FIELDS) throw tokenRefusal('several logout_token')
  const form = new URLSearchParams(fields.join('&'))
  const [token, ...others] = form.getAll('logout_token')
  if (token === undefined) throw tokenRefusal('no logout_token')
  if (others.length > 0) throw tokenRefusal('several logout_token')
  return token
}

/**
 * Each names the issuer. One that comes again changes nothing, so that a logout token may be sent
 * twice.
 */
function entriesOf(
  { issuer, sub, sid, issuedBefore }: Logout,
  { sessionless = [] }: BackchannelLogoutOptions,
): DenyEntry[] {
  const isSessionless = sessionless === 'subject' || sessionless.includes(issuer)
  const isAll = sid === null || isSessionless
  return [
    ...(sid === null ? [] : [{ issuer, sid }]),
    ...(sub === null || !isAll ? [] : [{ issuer, sub, issuedBefore }]),
  ]
}

function ended(): AuthError {
  return withoutStack(() => new ERR_AUTH_REVOCATION_UNAVAILABLE(1, 'the application closes'))
}

/**
 * All bad tokens have one answer. The log has the reason.
 *
 * @param logout null: it was not verified
 */
function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  error: AuthError,
  logout: Logout | null,
): FastifyReply {
  const { code, reason, retryAfter, statusCode } = error
  const mismatch = mismatchOf(request.log, error)
  if (statusCode < 500) {
    logLine(request.log, 'info', 'logout refused', { code, reason, mismatch })
    publishLogout(logout, 'refused', reason)
    return answer(reply, 400, 'invalid_request')
  }
  logLine(request.log, 'warn', 'logout refused', { code, reason })
  publishLogout(logout, 'unavailable', reason)
  // RFC 9110 §10.2.3: whole seconds.
  reply.header('retry-after', Math.max(1, Math.ceil(retryAfter ?? 1)))
  return answer(reply, 503, 'temporarily_unavailable')
}

/** Fastify's errors about bodies, and the status of the answer. */
const BODIES = new Map<string, readonly [status: number, reason: string]>([
  ['FST_ERR_CTP_BODY_TOO_LARGE', [413, 'the body is too large']],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', [415, 'the body is no form']],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', [400, 'the body has another length']],
])

/** Before the handler. Errors of the application's own hooks are answered by the application. */
function refuseBody(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const code = errorCode(error)
  const body = BODIES.get(code)
  if (body === undefined) throw error
  const [statusCode, reason] = body
  logLine(request.log, 'info', 'logout refused', { code, reason })
  publishLogout(null, 'refused', reason)
  return answer(reply, statusCode, 'invalid_request')
}

/** RFC 6749 §5.2, as Back-Channel Logout §2.8 has it. */
function answer(reply: FastifyReply, statusCode: number, error: string): FastifyReply {
  return reply
    .code(statusCode)
    .header('cache-control', 'no-store')
    .type('application/json')
    .send(JSON.stringify({ error }))
}

/** A message of the channel `fastify-tenant-auth:logout`: a logout token that came. Immutable. */
export interface LogoutEvent {
  /** The issuer of the token; null: it was not verified. */
  readonly issuer: string | null
  /** Its user; null: not verified, or it names none. */
  readonly sub: string | null
  /** Its session; null: not verified, or it names none. */
  readonly sid: string | null
  /** `unavailable`: it cannot be decided or kept now, so that its sender may try again. */
  readonly outcome: 'accepted' | 'refused' | 'unavailable'
  /** The exact reason, in the constant words of the log; null: accepted. */
  readonly reason: string | null
}

const logouts = channel('fastify-tenant-auth:logout')

/** @param logout null: it was not verified */
function publishLogout(
  logout: Logout | null,
  outcome: LogoutEvent['outcome'],
  reason: string | null,
): void {
  if (!logouts.hasSubscribers) return
  const { issuer, sub, sid } = logout ?? NOBODY
  const event: LogoutEvent = { issuer, sub, sid, outcome, reason }
  logouts.publish(Object.freeze(event))
}

const NOBODY = { issuer: null, sub: null, sid: null }
