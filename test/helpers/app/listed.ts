import { type PolicyMatrix, policyMatrix } from '../../../lib/entrypoints/cli/policy/matrix.ts'
import type { Implies } from '../../../lib/identity/authorization/implied-ids.ts'
import type { ConstrainedRoute } from '../../../lib/routes/route-list.ts'

/** A guarded GET route, with what is said of it otherwise. */
export function listed(url: string, more: Partial<ConstrainedRoute> = {}): ConstrainedRoute {
  return {
    method: 'GET',
    url,
    noauth: false,
    tenant: null,
    require: null,
    seen: true,
    userInfo: false,
    resources: false,
    authorization: false,
    ...more,
  }
}

/** A route that was written before the plugin had loaded. */
export function unknown(url: string): ConstrainedRoute {
  const policy = { noauth: null, userInfo: null, resources: null, authorization: null }
  return listed(url, { ...policy, seen: false })
}

/** The matrix of applications with these routes, and what their ids imply. */
export function matrixOf(
  applications: readonly (readonly ConstrainedRoute[])[],
  implies: readonly (Implies | undefined)[] = [],
): PolicyMatrix {
  return policyMatrix(applications.map((routes, i) => ({ routes, implies: implies[i] })))
}
