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
 * What a function of the application gave that must answer at once. A promise is no answer; should it reject later, nobody
 * listens, and that must not end the process.
 */
export function atOnce<T>(answer: T): T | undefined {
  if (!isThenable(answer)) return answer
  answer.then(undefined, () => {})
  return undefined
}
