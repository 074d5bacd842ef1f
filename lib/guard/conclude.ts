import type { AuthError } from '../errors.ts'
import type { Asked } from './asked.ts'
import { bindLog } from './bound-log.ts'
import { tellDecision } from './tell-decision.ts'

/**
 * What follows from a decision. Its user is named in the log, and it is counted and told, once for
 * each request. A request may be decided again. If that changes the outcome, or the tenant of an
 * admission, it is counted and told again: an audit must not miss a refusal that came late.
 *
 * @param error null: the request was admitted
 */
export function conclude(asked: Asked, error: AuthError | null): void {
  const { counts, logBindings } = asked.rules
  const outcome = error === null ? 'admitted' : 'refused'
  const last = asked.outcome === null ? asked.before : asked
  const isKnown = last?.outcome === outcome && (error !== null || last.tenant === asked.tenant)
  asked.outcome = outcome
  if (logBindings !== undefined) bindLog(asked, logBindings)
  if (isKnown) return
  counts.count(error)
  tellDecision(asked, error)
}
