// Outside: promises of others, by any library, which may reject when it is too late.

/** A promise, by whichever library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  )
}

/**
 * For what must be answered at once: a promise is no answer, and should it reject later, nobody
 * listens, which must not end the process.
 */
export function ignoreRejection(answer: unknown): void {
  if (isThenable(answer)) answer.then(undefined, () => {})
}
