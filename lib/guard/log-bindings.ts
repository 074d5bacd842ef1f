import type { FastifyBaseLogger } from 'fastify'
import type { LogBinding } from '../config/options.ts'
import type { AuthContext } from './context.ts'
import { requestedTenant } from './decide.ts'

export function bindLog(context: AuthContext, names: readonly LogBinding[]): void {
  const { request, reply, principal } = context
  const known = {
    tenant: requestedTenant(context),
    sub: principal?.sub ?? null,
    issuer: principal?.issuer ?? null,
  }
  const bindings = names.map((name) => [name, known[name]]).filter(([, value]) => value !== null)
  try {
    // A log that is bound twice would have each name twice in a line.
    const plain = context.plainLog ?? context.before?.plainLog ?? request.log
    const bound = bindings.length === 0 ? plain : childOf(plain, Object.fromEntries(bindings))
    context.plainLog = plain
    // Fastify logs by both.
    request.log = bound
    reply.log = bound
  } catch {
    // A hook of the application has put a getter there. A decision does not depend on it.
  }
}

export function namesTenant({ request, rules, plainLog }: AuthContext): boolean {
  if (plainLog === null || request.log === plainLog) return false
  return rules.logBindings?.includes('tenant') === true
}

/** The methods that Fastify calls, of a logger of the application too. */
const METHODS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'child'] as const

/** A hook of the application may have put any logger there. A decision does not depend on it. */
function childOf(log: FastifyBaseLogger, bindings: object): FastifyBaseLogger {
  try {
    const child = log.child(bindings)
    return METHODS.every((name) => typeof child[name] === 'function') ? child : log
  } catch {
    return log
  }
}
