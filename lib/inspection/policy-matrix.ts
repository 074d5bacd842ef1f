import type { ListedRoute } from './listed-routes.ts'

/** The policies of the routes of one guarded application. */
export interface MatrixApplication {
  /** In the order of url and method. */
  readonly routes: readonly ListedRoute[]
}

/** The policies of all routes of all guarded applications that one program makes. */
export interface PolicyMatrix {
  readonly applications: readonly MatrixApplication[]
}

/** The members of a route in their order, so that the same policies make the same text. */
const MEMBERS = [
  ...['method', 'url', 'noauth', 'tenant', 'require', 'any', 'seen'],
  ...['userInfo', 'resources', 'authorization'],
]

/** @param applications the routes of each application, as `authService.routes()` lists them */
export function policyMatrix(applications: readonly (readonly ListedRoute[])[]): PolicyMatrix {
  return { applications: applications.map((routes) => ({ routes: [...routes].sort(inOrder) })) }
}

/** The matrix as a file: JSON with a line for each route, so that a reviewer sees what changed. */
export function matrixJson({ applications }: PolicyMatrix): string {
  const texts = applications.map(({ routes }) => {
    const lines = routes.map((route) => `        ${routeJson(route)}`)
    return `    {\n      "routes": [\n${lines.join(',\n')}\n      ]\n    }`
  })
  return `{\n  "applications": [\n${texts.join(',\n')}\n  ]\n}\n`
}

/** A route in one line. */
export function routeJson(route: ListedRoute): string {
  return JSON.stringify(route, MEMBERS)
}

/** By url and method. Several routes of one place, such as versions, stand in a fixed order too. */
function inOrder(a: ListedRoute, b: ListedRoute): number {
  return compare(a.url, b.url) || compare(a.method, b.method) || compare(routeJson(a), routeJson(b))
}

/** The same order on each machine, in every language. */
function compare(a: string, b: string): number {
  return Number(a > b) - Number(a < b)
}
