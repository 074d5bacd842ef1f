import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, HTTPMethods } from 'fastify'
import { CLOSED, type Policy } from '../declaration/policy.ts'
import { ProbedRequest, type ProbeEnd, probeEndOf } from '../guard/probed-request.ts'
import type { AskedPersona } from './asked-personas.ts'

/** The answer to one persona. */
export interface Answer {
  readonly asked: AskedPersona
  readonly status: number
  /** Undefined if something else than the guard has answered. */
  readonly end: ProbeEnd | undefined
}

/** Asks a route as one persona. The gate answers in the place of its handler. */
export async function ask(
  app: FastifyInstance,
  asked: AskedPersona,
  request: {
    readonly method: string
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
  },
): Promise<Answer> {
  const { method, url, headers } = request
  assert.ok(isMethod(method), 'Fastify has methods of Node only')
  const { statusCode, raw } = await app.inject({ method, url, headers, Request: ProbedRequest })
  return { asked, status: statusCode, end: probeEndOf(raw.req) }
}

function isMethod(method: string): method is HTTPMethods {
  return METHODS.includes(method)
}

/** The url of another route that was met. One of the same place and policy will do. */
export function otherRoute(
  answers: readonly Answer[],
  { writtenUrl, policy }: { readonly writtenUrl: string; readonly policy: Policy | undefined },
): string | undefined {
  const known = [null, CLOSED, policy]
  const other = answers.find(
    ({ end }) =>
      end?.url !== undefined &&
      (end.url !== writtenUrl || !known.some((each) => isDeepStrictEqual(each, end.policy))),
  )
  return other?.end?.url
}

/** Whether the guard refused a persona as the policy of the route says. */
export function isRefused({ asked, status, end }: Answer): boolean {
  return status === asked.status && asked.codes.includes(end?.error?.code ?? '')
}
