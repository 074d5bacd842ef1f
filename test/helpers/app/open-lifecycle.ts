import assert from 'node:assert/strict'
import {
  type AcceptedTokens,
  Lifecycle,
  lifecycleOf,
} from '../../../lib/platform/callbacks/lifecycle.ts'

const NONE: AcceptedTokens = { issuers: [], clockTolerance: 0 }

/** Begins the work of a function, or its lifecycle, as a service does that reports no calls. */
export function openLifecycle(
  of: unknown,
  onFailure: (reason: string) => void = () => {},
  accepted: AcceptedTokens = NONE,
): Lifecycle {
  const own = of instanceof Lifecycle ? of : lifecycleOf(of)
  const lifecycle = own ?? assert.fail('it has no lifecycle')
  lifecycle.open({ error: onFailure, callback: () => () => {} }, accepted)
  return lifecycle
}
