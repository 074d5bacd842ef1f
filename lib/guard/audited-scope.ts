import { applicationRoutes } from '../declaration/application-routes.ts'
import { mistakenSegments } from '../declaration/policy.ts'
import { added, type RouteRegister } from '../declaration/route-register.ts'
import type { AuditedScope } from '../inspection/inspected-scope.ts'
import { isRootScope, isWithin } from '../outside/fastify-scope.ts'
import { redecorated } from './request-decorators.ts'
import { guardedScopes } from './scopes.ts'

/** A guarded scope as the audit sees it after every plugin has loaded. */
export function auditedScope(
  { scope, seen, early, earlyProblems }: RouteRegister,
  rules: { readonly tenantParameter: string },
): AuditedScope {
  const guarded = guardedScopes(scope)
  const application = applicationRoutes(scope)
  return {
    scope,
    seen,
    early,
    earlyProblems,
    isRoot: isRootScope(scope),
    application: application && added(application),
    isCovered: (route) => guarded.some((each) => isWithin(each, route.scope)),
    mistaken: (url) => mistakenSegments(url, rules),
    redecorated: (each) => redecorated(scope, each),
  }
}
