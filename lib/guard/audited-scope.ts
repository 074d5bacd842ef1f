import { addedRoutes } from '../declaration/added-routes.ts'
import { applicationRoutes } from '../declaration/application-routes.ts'
import { mistakenSegments } from '../declaration/policy.ts'
import type { RouteRegister } from '../declaration/route-register.ts'
import type { AuditedScope } from '../inspection/inspected-scope.ts'
import { isRootScope, isWithin } from '../outside/fastify-scope.ts'
import { guardedScopes } from './guarded-scopes.ts'
import { redecorated } from './redecorated.ts'

/** A guarded scope as the audit sees it after every plugin has loaded. */
export function auditedScope(
  { scope, guardName, seen, early, earlyProblems }: RouteRegister,
  rules: { readonly tenantParameter: string },
): AuditedScope {
  const guarded = guardedScopes(scope)
  const application = applicationRoutes(scope)
  return {
    scope,
    guardName,
    seen,
    early,
    earlyProblems,
    isRoot: isRootScope(scope),
    application: application && addedRoutes(application),
    guardNames: guarded.map((each) => each.guardName),
    isCovered: (route) => guarded.some((each) => isWithin(each.scope, route.scope)),
    mistaken: (url) => mistakenSegments(url, rules),
    redecorated: (each) => redecorated(scope, each),
  }
}
