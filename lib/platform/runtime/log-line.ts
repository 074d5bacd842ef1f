import { types } from 'node:util'

// Outside: the logger of the application, and the errors that it is given.

type Level = 'error' | 'warn' | 'info' | 'debug'

/** A method is looked up on each call: an application may put any logger there. */
type LineLog = Readonly<Record<Level, (line: object, message: string) => void>>

/**
 * Logs a line: without its error if the members of that cannot be read, and as a message alone if
 * a serializer of the application takes none of its members. A logger that throws costs no request,
 * and changes no decision.
 *
 * @param error undefined: there is none
 */
export function logLine(
  log: LineLog,
  level: Level,
  message: string,
  about: object,
  error?: unknown,
): void {
  const lines = [about, {}]
  if (error !== undefined) lines.unshift({ ...about, err: extensible(error) })
  for (const line of lines) {
    try {
      log[level](line, message)
      return
    } catch {
      // Next with less.
    }
  }
}

/** The error, or an object that inherits from one that is frozen: serializers mark what they saw. */
function extensible(error: unknown): unknown {
  return types.isNativeError(error) && !Object.isExtensible(error) ? Object.create(error) : error
}
