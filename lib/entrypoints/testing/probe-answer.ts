import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, HTTPMethods } from 'fastify'
import { ProbedRequest, type ProbeEnd, ProbeStopped, probeEndOf } from '../../guard/probe-gate.ts'
import { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { CLOSED_POLICY, type Policy } from '../../routes/policy.ts'
import type { Attempt } from './personas.ts'

export interface ProbeAnswer {
  readonly attempt: Attempt
  readonly status: number
  readonly end: ProbeEnd | undefined
  /** True if 400 came before the guard had decided: of @fastify/cors, or of the validation. */
  readonly isOfOthers: boolean
}

/** Seconds for one answer. */
const MOST_SECONDS = 10

/**
 * Makes one attempt at a route. The gate answers in the place of its handler.
 *
 * @throws Error that names the route if no answer comes, such as after a hook that hijacks
 */
export async function sendProbe(
  app: FastifyInstance,
  attempt: Attempt,
  request: {
    readonly method: string
    readonly url: string
    /** The url of the route, as it is written. */
    readonly routeUrl: string
    readonly headers: Readonly<Record<string, string>>
    /** Undefined: none is sent. */
    readonly payload: object | undefined
    /** True if @fastify/cors, or the validation, may refuse it before the guard has decided. */
    readonly isBehindOthers: boolean
  },
): Promise<ProbeAnswer> {
  const { method, url, routeUrl, headers, payload, isBehindOthers } = request
  assert.ok(isMethod(method), 'Fastify has methods of Node only')
  const sent = { method, url, headers, ...(payload && { payload }) }
  const inject = async () => app.inject({ ...sent, Request: ProbedRequest })
  try {
    const why = `${method} ${routeUrl} was not answered within ${MOST_SECONDS} seconds: a hook hijacks the request, or does not go on`
    const late = () => new Error(`probe: ${why}`)
    // Without a timer that keeps the process alive, Node would end before the route is named.
    const limit = { milliseconds: MOST_SECONDS * 1000, late, ended: late, keepsAlive: true }
    const { statusCode, raw } = await new PendingRequests().waitWithin(inject(), limit)
    const end = probeEndOf(raw.req)
    const isOfOthers = isBehindOthers && end === undefined && statusCode === 400
    return { attempt, status: statusCode, end, isOfOthers }
  } catch (error) {
    if (!(error instanceof ProbeStopped)) throw error
    const status = error.end.url === undefined ? 404 : 204
    return { attempt, status, end: error.end, isOfOthers: false }
  }
}

function isMethod(method: string): method is HTTPMethods {
  return METHODS.includes(method)
}

/** The url of another route that answered. One of the same place and policy will do. */
export function otherRouteReached(
  answers: readonly ProbeAnswer[],
  route: { readonly writtenUrl: string; readonly url: string; readonly policy: Policy | undefined },
): string | undefined {
  const policies = [null, CLOSED_POLICY, route.policy]
  const other = answers.find(
    ({ end }) =>
      end?.url !== undefined &&
      (![route.writtenUrl, route.url].includes(end.url) ||
        !policies.some((each) => isDeepStrictEqual(each, end.policy))),
  )
  return other?.end?.url
}

/** True if the router found no route for it. */
export function hasReachedNone({ end }: ProbeAnswer): boolean {
  return end !== undefined && end.url === undefined
}

/** True if the guard did as the policy says, or another one refused the request before it. */
export function isAsExpected({ attempt, status, end, isOfOthers }: ProbeAnswer): boolean {
  const isExpected =
    attempt.codes.length === 0
      ? end?.error === null
      : attempt.codes.includes(end?.error?.code ?? '')
  return isOfOthers || (status === attempt.status && isExpected)
}
