/**
 * The last moment that a Date can tell, in milliseconds since the epoch; the first is as far before
 * it.
 */
const END_OF_TIME = 8.64e15

/**
 * A new Date of a NumericDate (RFC 7519 §2), in seconds since the epoch; the nearest one where no
 * Date can tell it.
 */
export function dateOf(seconds: number): Date {
  return new Date(Math.max(-END_OF_TIME, Math.min(seconds * 1000, END_OF_TIME)))
}
