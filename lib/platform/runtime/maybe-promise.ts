// Outside: answers of others, such as servers and functions of the application. Some are there at
// once, and some come later. A promise is made only for an answer that comes later: a promise costs
// more than a whole decision, and requests without one keep their order.

/** A value that is there, or the promise of one that comes later. */
export type MaybePromise<T> = T | Promise<T>

/** The result of `step` on a value. It is there at once if the value is. */
export function after<A, B>(
  before: MaybePromise<A>,
  step: (value: A) => MaybePromise<B>,
): MaybePromise<B> {
  return before instanceof Promise ? before.then(step) : step(before)
}

/** Runs a step that may fail, at once or later, and goes on in one of two ways. */
export function attempt<A, B>(
  run: () => MaybePromise<A>,
  done: (value: A) => MaybePromise<B>,
  failed: (error: unknown) => MaybePromise<B>,
): MaybePromise<B> {
  let value: MaybePromise<A>
  try {
    value = run()
  } catch (error) {
    return failed(error)
  }
  return value instanceof Promise ? value.then(done, failed) : done(value)
}

/**
 * A promise of any library.
 *
 * @throws anything if its members cannot be read, as those of a proxy
 */
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
 *
 * @param rejected called then
 */
export function ignoreRejection(answer: unknown, rejected = (_: unknown): void => {}): void {
  try {
    if (isThenable(answer)) answer.then(undefined, rejected)
  } catch {
    // A value that cannot be read is no promise.
  }
}
