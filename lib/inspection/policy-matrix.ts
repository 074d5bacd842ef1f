import { visible } from '../settings/shown-value.ts'
import { type ConstrainedRoute, wholeRoute } from './listed-routes.ts'

/** The policies of the routes of one guarded application. */
export interface MatrixApplication {
  /** In the order of url, method and constraints. */
  readonly routes: readonly ConstrainedRoute[]
}

/** The policies of all routes of all guarded applications that one program makes. */
export interface PolicyMatrix {
  readonly applications: readonly MatrixApplication[]
}

/**
 * @param applications the routes of each application, as `authService.routes()` lists them, with
 * what more is known of them
 */
export function policyMatrix(applications: readonly (readonly ConstrainedRoute[])[]): PolicyMatrix {
  return {
    applications: applications.map((routes) => ({
      routes: routes.map(wholeRoute).sort(inOrder),
    })),
  }
}

/** The matrix as a file: JSON with a line for each route, so that a reviewer sees what changed. */
export function matrixJson({ applications }: PolicyMatrix): string {
  const texts = applications.map(({ routes }) => {
    const lines = routes.map((route) => `        ${routeJson(route)}`)
    return `    {\n      "routes": [\n${lines.join(',\n')}\n      ]\n    }`
  })
  return `{\n  "applications": [\n${texts.join(',\n')}\n  ]\n}\n`
}

/** A route in one line. The members have an order, so that the same policies make the same text. */
function routeJson({ method, url, constraints, ...policy }: ConstrainedRoute): string {
  const { noauth, tenant, require, seen, userInfo, resources, authorization } = policy
  const place = { method, url, ...(constraints && { constraints }) }
  const receives = { userInfo, resources, authorization }
  // In JSON only texts have characters that are not seen, and a text may have them by their number.
  return visible(JSON.stringify({ ...place, noauth, tenant, require, seen, ...receives }))
}

/** The line of a route has its constraints before its policy. */
function inOrder(a: ConstrainedRoute, b: ConstrainedRoute): number {
  return compare(a.url, b.url) || compare(a.method, b.method) || compare(routeJson(a), routeJson(b))
}

/** The same order on each machine, in every language. */
function compare(a: string, b: string): number {
  return Number(a > b) - Number(a < b)
}
