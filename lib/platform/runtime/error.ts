import { types } from 'node:util'

// Outside: V8, which captures a stack for every error.

/**
 * Runs a function whose errors capture no stack. The stack of a refusal always leads to the guard,
 * and capturing it costs more than the decision. The function must run no code of the application.
 */
export function withoutStack<T>(run: () => T): T {
  const limit = Error.stackTraceLimit
  try {
    Error.stackTraceLimit = 0
  } catch {
    // Error may be frozen, as under `node --frozen-intrinsics`. Then errors have a stack, which
    // does no harm.
    return run()
  }
  try {
    return run()
  } finally {
    Error.stackTraceLimit = limit
  }
}

// Outside: the errors of other code. They may be anything, their members may throw when they are
// read, and their messages may hold what was sent.

/**
 * Codes of TLS are made of OpenSSL's words, such as SSL/TLS ALERT HANDSHAKE FAILURE. Five characters
 * are an SQLSTATE, as errors of PostgreSQL have.
 */
const CODE = /^(?:[A-Z][A-Z0-9_/]{0,63}|[A-Z0-9]{5})$/
const NAME = /^[A-Z][A-Za-z]{0,30}Error$/

/**
 * The part of an error that may be logged: its code, such as ECONNREFUSED, or its name. Its message
 * is never repeated, because it may hold what was sent. Never throws: many callers run in the
 * background, where an exception would end the process.
 */
export function errorCode(error: unknown): string {
  if (!isError(error)) return 'no error object'
  return memberOf(error, 'code', CODE) ?? memberOf(error, 'name', NAME) ?? 'Error'
}

/** `instanceof` that never throws. A proxy may refuse the question. */
export function isThrown<T>(
  error: unknown,
  type: abstract new (...args: never[]) => T,
): error is T {
  try {
    return error instanceof type
  } catch {
    return false
  }
}

/** In Jest the errors of Node are of another realm than this package. */
function isError(error: unknown): error is Error {
  return types.isNativeError(error) || isThrown(error, Error)
}

/** A text of an error that matches a pattern. */
function memberOf(error: Error, name: string, pattern: RegExp): string | undefined {
  try {
    const value: unknown = Reflect.get(error, name)
    return typeof value === 'string' && pattern.test(value) ? value : undefined
  } catch {
    return undefined
  }
}
