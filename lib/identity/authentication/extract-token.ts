import type { FastifyRequest } from 'fastify'
import { AuthError, ERR_AUTH_TOKEN_MISSING } from '../../errors.ts'
import {
  type ReportFailure,
  reportRejection,
  thrown,
  unusable,
} from '../../platform/callbacks/call-with-timeout.ts'
import { unexpected } from '../../platform/http/failure.ts'
import { isThrown, withoutStack } from '../../platform/runtime/error.ts'
import { tokenRefusal } from '../jwt/token-refusal.ts'

const SPACE = 0x20

/** The schemes of the Authorization header that bring a token. */
interface Schemes {
  readonly spelt: RegExp
  readonly misspelt: RegExp
}

/** RFC 9110 §11.4: `auth-scheme 1*SP token68`. The scheme's case does not matter. */
function schemes(names: string): Schemes {
  return {
    spelt: new RegExp(`^(?:${names})(?: +|$)`, 'i'),
    misspelt: new RegExp(`^(?:${names})[^!#$%&'*+.^_\`|~0-9a-z-]`, 'i'),
  }
}

export const BEARER = schemes('bearer')

/** RFC 9449 §7.1: a token that is bound to a key comes with the scheme `DPoP`. */
export const BEARER_OR_DPOP = schemes('bearer|dpop')

export interface TokenRules {
  readonly schemes: Schemes
  /** The token of a request without an Authorization header; null: it has none. */
  readonly tokenFrom?: ((request: FastifyRequest) => string | null) | undefined
  readonly reportTokenFrom?: ReportFailure | undefined
}

/**
 * The token of a request: of its Authorization header, or, if it has none, what the
 * application's function gives.
 *
 * @returns null when there is none
 * @throws ERR_AUTH_TOKEN_INVALID when there is not exactly one
 */
export function extractToken(request: FastifyRequest, rules: TokenRules): string | null {
  const { authorization } = request.headers
  const token =
    authorization === undefined
      ? tokenElsewhere(request, rules)
      : readToken(String(authorization), rules.schemes)
  if (isRepeated(request.raw.rawHeaders)) throw tokenRefusal('several Authorization headers')
  return token
}

/** A function written in JavaScript may return anything. */
function tokenElsewhere(
  request: FastifyRequest,
  { tokenFrom, reportTokenFrom: report }: TokenRules,
): string | null {
  if (tokenFrom === undefined) return null
  let token: unknown
  try {
    token = tokenFrom(request)
  } catch (error) {
    report?.(thrown(error))
    // An error of boot is no refusal.
    const isRefusal = isThrown(error, AuthError) && error.statusCode !== 500
    throw isRefusal ? error : tokenRefusal('tokenFrom failed')
  }
  if (token === null || token === '') return null
  // It throws, so that nobody becomes a guest by a failure.
  if (token === undefined) {
    throw withoutStack(() => new ERR_AUTH_TOKEN_MISSING('tokenFrom gave undefined'))
  }
  if (typeof token === 'string') return token
  reportRejection(token, report)
  report?.(unusable(unexpected('the answer', 'a string or null', token)))
  throw tokenRefusal('tokenFrom gave no string')
}

/**
 * The token of an Authorization header (RFC 6750 §2.1), or null if the header is empty or of
 * another scheme.
 *
 * @throws ERR_AUTH_TOKEN_INVALID when it is a header of the schemes without exactly one token
 */
function readToken(authorization: string, { spelt, misspelt }: Schemes): string | null {
  // The spelling of nearly all clients.
  if (authorization.startsWith('Bearer ') && authorization.charCodeAt(7) > SPACE) {
    return authorization.slice(7)
  }
  const scheme = spelt.exec(authorization)
  if (scheme) {
    const token = authorization.slice(scheme[0].length)
    if (token === '') throw tokenRefusal('the header names the scheme and no token')
    return token
  }
  if (misspelt.test(authorization)) throw tokenRefusal('the header is malformed')
  return null
}

/**
 * True: the request came with several Authorization headers. Node keeps the first and drops the
 * rest in silence, while a proxy before us may have judged the last (RFC 9110 §5.3). A request that
 * a test makes up may have no raw headers at all.
 */
function isRepeated(rawHeaders: readonly string[] = []): boolean {
  let seen = false
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name === undefined || name.length !== 13 || name.toLowerCase() !== 'authorization') continue
    if (seen) return true
    seen = true
  }
  return false
}
