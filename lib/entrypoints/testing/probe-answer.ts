import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, HTTPMethods } from 'fastify'
import { ProbedRequest, type ProbeEnd, ProbeStopped, probeEndOf } from '../../guard/probe-gate.ts'
import { CLOSED, type Policy } from '../../routes/policy.ts'
import type { AskedPersona } from './personas.ts'

/** The answer to one persona. */
export interface Answer {
  readonly asked: AskedPersona
  readonly status: number
  /** Undefined if something else than the guard has answered. */
  readonly end: ProbeEnd | undefined
  /** Whether @fastify/cors has answered before the guard that this is no preflight. */
  readonly isOfCors: boolean
}

/** Seconds for one answer. */
const MOST_SECONDS = 10

/**
 * Asks a route as one persona. The gate answers in the place of its handler.
 *
 * @throws Error that names the route if no answer comes, as where a hook hijacks the request
 */
export async function ask(
  app: FastifyInstance,
  asked: AskedPersona,
  request: {
    readonly method: string
    readonly url: string
    /** The url of the route, as it is written. */
    readonly routeUrl: string
    readonly headers: Readonly<Record<string, string>>
    /** Whether @fastify/cors takes the request for a preflight. */
    readonly isBehindCors: boolean
  },
): Promise<Answer> {
  const { method, url, routeUrl, headers, isBehindCors } = request
  assert.ok(isMethod(method), 'Fastify has methods of Node only')
  const inject = async () => app.inject({ method, url, headers, Request: ProbedRequest })
  try {
    const { statusCode, raw } = await inTime(inject(), `${method} ${routeUrl}`)
    const end = probeEndOf(raw.req)
    const isOfCors = isBehindCors && end === undefined && statusCode === 400
    return { asked, status: statusCode, end, isOfCors }
  } catch (error) {
    if (!(error instanceof ProbeStopped)) throw error
    const status = error.end.url === undefined ? 404 : 204
    return { asked, status, end: error.end, isOfCors: false }
  }
}

/** The timer keeps the process alive: without it, Node would end before the route is named. */
async function inTime<T>(answer: Promise<T>, route: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_resolve, reject) => {
    const why = `${route} was not answered within ${MOST_SECONDS} seconds: a hook hijacks the request, or does not go on`
    timer = setTimeout(() => reject(new Error(`probe: ${why}`)), MOST_SECONDS * 1000)
  })
  try {
    return await Promise.race([answer, limit])
  } finally {
    clearTimeout(timer)
  }
}

function isMethod(method: string): method is HTTPMethods {
  return METHODS.includes(method)
}

/** The url of another route that was met. One of the same place and policy will do. */
export function otherRoute(
  answers: readonly Answer[],
  route: { readonly writtenUrl: string; readonly url: string; readonly policy: Policy | undefined },
): string | undefined {
  const known = [null, CLOSED, route.policy]
  const other = answers.find(
    ({ end }) =>
      end?.url !== undefined &&
      (![route.writtenUrl, route.url].includes(end.url) ||
        !known.some((each) => isDeepStrictEqual(each, end.policy))),
  )
  return other?.end?.url
}

/** Whether a persona was refused as the policy of the route says, or by @fastify/cors before. */
export function isRefused({ asked, status, end, isOfCors }: Answer): boolean {
  return isOfCors || (status === asked.status && asked.codes.includes(end?.error?.code ?? ''))
}
