import type { FastifyInstance } from 'fastify'

/** A route as the router prints it. */
export interface PrintedRoute {
  readonly method: string
  /** As the router spells it. */
  readonly url: string
  /** Names of the hooks that were asked for. */
  readonly hooks: readonly string[]
}

const NODE = /^((?:│ {3}| {4})*)[├└]── (.*)$/
const META = /^(?:│ {3}| {4})*• \(\w+\) (\[.*\])$/
const LEAF = /^(.*) \(([A-Z-]+)\)(?: \{.*\})?$/
const EMPTY_ROOT = '(empty root node)'

/** What to print beside every route. */
export interface Printed {
  /** Kind of hooks whose names are wanted. After ready these are the hooks that each route runs. */
  readonly hooks?: string
  /** Methods whose routes are wanted. Not given: all methods. */
  readonly methods?: FastifyInstance['supportedMethods']
}

/**
 * The routes of the whole application, those of other scopes too. Fastify tells of them only in
 * print. With hooks, printing the routes of a large application takes several times as long.
 */
export function printedRoutes(
  app: FastifyInstance,
  { hooks, methods = app.supportedMethods }: Printed = {},
): PrintedRoute[] {
  const includeMeta = hooks === undefined ? {} : { includeMeta: [hooks] }
  return methods.flatMap((method) => parse(app.printRoutes({ method, ...includeMeta })))
}

function parse(text: string): PrintedRoute[] {
  const routes: PrintedRoute[] = []
  const path: string[] = []
  // Nearly all routes have the same hooks.
  const known = new Map<string, readonly string[]>()
  const namesIn = (list: string): readonly string[] => {
    const names = known.get(list) ?? readNames(list)
    known.set(list, names)
    return names
  }
  const add = (label: string, depth: number): void => {
    const [, name = label, method] = LEAF.exec(label) ?? []
    path.length = depth
    path.push(name === EMPTY_ROOT ? '' : name)
    if (method !== undefined) routes.push({ method, url: path.join(''), hooks: [] })
  }
  for (const line of text.split('\n')) {
    const [, indent, label] = NODE.exec(line) ?? []
    if (indent !== undefined && label !== undefined) {
      add(label, indent.length / 4)
      continue
    }
    const [, names] = META.exec(line) ?? []
    const route = names === undefined ? undefined : routes.pop()
    if (names !== undefined && route) routes.push({ ...route, hooks: namesIn(names) })
    // A further route of the same node, under other constraints.
    else if (path.length > 0 && line !== '') add(line.slice(path.length * 4), path.length - 1)
  }
  return routes
}

/** `["guard()","other()"]` */
function readNames(text: string): readonly string[] {
  return text
    .slice(2, -2)
    .split('","')
    .map((name) => name.replace(/\(\)$/, ''))
}
