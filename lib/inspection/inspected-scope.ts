import type { FastifyInstance } from 'fastify'

/** The ids that a route requires: all of them, or one at least. */
export interface InspectedRequirement {
  readonly mode: 'all' | 'any'
  readonly ids: readonly string[]
}

/** What holds for the requests of one route. */
export interface InspectedPolicy {
  readonly noauth: boolean
  readonly tenant: 'path' | 'query' | null
  readonly requirement: InspectedRequirement | null
  readonly declared: {
    readonly tenant: boolean | 'required' | 'optional'
    readonly userInfo: boolean
    readonly resources: boolean
    readonly authorization: boolean
  }
}

/** A route that an application has written. */
export interface InspectedRoute {
  readonly scope: FastifyInstance
  readonly url: string
  /** All methods that it was written for. */
  readonly methods: readonly string[]
  /** The methods that Fastify has not refused. */
  readonly routedMethods: readonly string[]
  /** What tells it from other routes of its urls, such as a version. */
  readonly constraints: object
  /** Whether it says that it is open. */
  readonly declared: { readonly noauth: boolean }
  /** Undefined before ready. */
  readonly policy: InspectedPolicy | undefined
  /** What it declares, right or wrong, apart from being open. */
  readonly declares: readonly string[]
}

/** A guarded scope and its routes. */
export interface InspectedScope {
  readonly scope: FastifyInstance
  readonly seen: readonly InspectedRoute[]
  /** The routes that no `onRoute` saw; undefined if they cannot be known. */
  readonly early: readonly InspectedRoute[] | undefined
}

/** A guarded scope as part of its application. */
export interface AuditedScope extends InspectedScope {
  /** What is wrong with early routes. It did not stop the boot. */
  readonly earlyProblems: readonly string[]
  /** Whether the scope is the whole application. */
  readonly isRoot: boolean
  /** Every route of the application; undefined if they cannot be known. */
  readonly application: readonly InspectedRoute[] | undefined
  /** Whether a guard of the application covers a route. */
  isCovered(route: InspectedRoute): boolean
  /** Parameters of a path that look like a tenant segment and are not. */
  mistaken(url: string): readonly string[]
  /** Which of our names a scope also decorates its requests with. */
  redecorated(scope: FastifyInstance): readonly string[]
}
