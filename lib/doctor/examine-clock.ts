import type { Exchange } from './exchange.ts'
import { doubtful, type Finding, fine, wrong } from './finding.ts'

/** `Date` counts whole seconds (RFC 9110 §5.6.7). */
const SECOND = 1000

const CURE = 'set both clocks by NTP; clock_tolerance is for seconds only'

/**
 * The clock of a server against that of this machine. Ahead, its fresh tokens are issued in the
 * future; behind, they end early.
 *
 * @param tolerance seconds
 */
export function examineClock(
  server: string,
  { head, beganAt, answeredAt }: Exchange,
  tolerance: number,
): Finding[] {
  const date = head?.date ?? Number.NaN
  if (Number.isNaN(date)) return []
  const ahead = (date - answeredAt) / SECOND
  const behind = (beganAt - date - SECOND) / SECOND
  if (ahead > tolerance) {
    return [wrong(`the clock of ${server} is ${Math.round(ahead)} seconds ahead of here`, CURE)]
  }
  if (behind > tolerance) {
    return [doubtful(`the clock of ${server} is ${Math.round(behind)} seconds behind here`, CURE)]
  }
  return [fine(`the clock of ${server} agrees with that of this machine`)]
}
