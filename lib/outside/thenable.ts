// Outside: promises of other libraries. They may reject when it is too late.

/** A promise of any library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  )
}

/**
 * For an answer that is needed at once: a promise is not an answer. If it rejects later, that must
 * not end the process.
 */
export function ignoreRejection(answer: unknown): void {
  if (isThenable(answer)) answer.then(undefined, () => {})
}
