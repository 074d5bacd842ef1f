import type { FastifyRequest } from 'fastify'
import { ignoreRejection } from '../../platform/runtime/maybe-promise.ts'
import type { Authorization } from './authorization.ts'

/** The ids that a route requires: all of them, or one at least. */
export interface Requirement {
  readonly mode: 'all' | 'any'
  readonly ids: readonly string[]
}

/** A function of the route that returns the ids that a request requires: one, or a list. */
export type RequireBy = (request: FastifyRequest) => string | readonly string[]

/** The ids that a route requires by the request. All that its function returns must be held. */
export interface RequirementByRequest {
  readonly mode: 'by'
  readonly by: RequireBy
  /** All ids that it may return. */
  readonly ids: readonly string[]
}

/**
 * The ids that one request requires, all of them.
 *
 * @throws what the route's function throws, and TypeError unless it returns ids of its list
 */
export function requiredBy(
  { by, ids: among }: RequirementByRequest,
  request: FastifyRequest,
): readonly string[] {
  const chosen: unknown = by(request)
  // A copy turns holes into `undefined`.
  const ids: unknown[] = Array.isArray(chosen) ? [...chosen] : [chosen]
  const isAmong = (id: unknown): id is string => among.some((each) => each === id)
  if (ids.length > 0 && ids.every(isAmong)) return Object.freeze(ids)
  for (const each of [chosen, ...ids]) ignoreRejection(each)
  throw new TypeError('require.by returned something else than ids of among')
}

/**
 * Returns whether an admitted request may do what it asks for.
 *
 * @param authorization null: the route is open (`noauth`)
 */
export type Check = (
  authorization: Authorization | null,
  request: FastifyRequest,
) => boolean | Promise<boolean>
