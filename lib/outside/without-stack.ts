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
