import type { FastifyInstance } from 'fastify'

/** Plugins that answer requests themselves, and on which side of the guard they belong. */
const NEIGHBOURS = [
  {
    name: '@fastify/cors',
    belongs: 'before',
    advice:
      '@fastify/cors is registered after this plugin: the guard refuses preflights, and browsers cannot read its refusals from another origin; register it before',
  },
  {
    name: '@fastify/middie',
    belongs: 'after',
    advice:
      '@fastify/middie is registered before this plugin: its middleware answers strangers; register it after',
  },
] as const

/** Which of these plugins were there before the guard. Their hooks run before its own. */
export class Neighbours {
  readonly #ofGuarded: readonly string[]
  readonly #ofBelow: ReadonlyMap<FastifyInstance, readonly string[]>

  /**
   * @param guarded the scope that the guard is being installed in
   * @param below scopes below it that are there already
   */
  constructor(guarded: FastifyInstance, below: readonly FastifyInstance[]) {
    this.#ofGuarded = neighboursIn(guarded)
    this.#ofBelow = new Map(below.map((scope) => [scope, neighboursIn(scope)]))
  }

  /** Whether a plugin of a scope answers before the guard does. */
  isBefore(name: string, scope: FastifyInstance): boolean {
    return (this.#ofBelow.get(scope) ?? this.#ofGuarded).includes(name)
  }

  /** Warnings of the plugins that stand on the wrong side of the guard in one of the scopes. */
  misplaced(scopes: Iterable<FastifyInstance>): string[] {
    const all = [...scopes]
    return NEIGHBOURS.filter(({ name, belongs }) =>
      all.some(
        (scope) => scope.hasPlugin(name) && this.isBefore(name, scope) === (belongs === 'after'),
      ),
    ).map(({ advice }) => advice)
  }
}

/**
 * Whether a route is the one that @fastify/cors writes for itself, so that Fastify takes preflights
 * of all urls. The router may spell it with a slash.
 */
export function isOfCors(
  { method, url }: { readonly method: string; readonly url: string },
  scope: FastifyInstance,
): boolean {
  const isItsPlace = [`${scope.prefix}*`, `${scope.prefix}/*`].includes(url)
  return method === 'OPTIONS' && isItsPlace && scope.hasPlugin('@fastify/cors')
}

function neighboursIn(scope: FastifyInstance): readonly string[] {
  return NEIGHBOURS.filter(({ name }) => scope.hasPlugin(name)).map(({ name }) => name)
}
