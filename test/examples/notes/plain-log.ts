import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorizationOf, errors, refusalOf } from '../../../lib/index.ts'

/** For Fastify's logger: warnings outside of requests, in plain words. */
export const plainWarnings = {
  level: 'warn',
  stream: {
    write(line: string): void {
      const { msg, reqId }: { msg: string; reqId?: string } = JSON.parse(line)
      if (reqId === undefined) console.error(msg)
    },
  },
}

/** One plain line for each request: `GET /notes?tenant=lazy-raccoon 200 bob in lazy-raccoon`. */
export function logRequests(app: FastifyInstance): void {
  const problems = new WeakMap<FastifyRequest, Error>()
  app.addHook('onError', async (request, _reply, error) => {
    problems.set(request, error)
  })
  app.addHook('onResponse', async (request, reply) => {
    const said = [request.method, request.url, reply.statusCode, who(request)]
    const problem = problems.get(request)
    console.error(said.join(' ').trimEnd() + (problem ? `: ${why(problem)}` : ''))
  })
}

function who(request: FastifyRequest): string {
  const refusal = refusalOf(request)
  const authorization = refusal?.authorization ?? authorizationOf(request)
  if (authorization === null) return ''
  const { userInfo } = authorization
  const tenant = refusal?.tenant ?? authorization.tenant
  return `${userInfo.preferred_username ?? userInfo.sub} in ${tenant ?? 'no tenant'}`
}

/** The log says more of a refusal than the client gets. */
function why(problem: Error): string {
  return problem instanceof errors.AuthError
    ? `${problem.code}, ${problem.reason}`
    : problem.message
}
