// Outside: functions of the application that never answer, while no request waits for them.

import { Unusable } from './unusable.ts'

/** The message where the time is over. */
export const LATE = 'late'

/**
 * What a function answers within a time, unless a signal ends the wait. Its timer does not keep the
 * process alive.
 *
 * @throws Unusable, or what the function throws
 */
export async function withinTime<T>(
  ask: () => T | Promise<T>,
  milliseconds: number,
  signal?: AbortSignal,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unusable(LATE)), milliseconds)
    timer.unref()
    signal?.addEventListener('abort', () => reject(new Unusable('ended')), { once: true })
  })
  try {
    return await Promise.race([(async () => ask())(), limit])
  } finally {
    clearTimeout(timer)
  }
}
