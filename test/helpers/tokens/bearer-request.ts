import type { FastifyRequest } from 'fastify'

/**
 * The part of a request that an authenticator reads. Its header is one piece of memory, as Node
 * gives it.
 */
export function bearerRequest(header: string, lines: readonly string[] = []): FastifyRequest {
  const authorization = Buffer.from(header, 'latin1').toString('latin1')
  const rawHeaders = ['Host', 'a.test', 'Authorization', authorization, ...lines]
  return Object.assign(Object.create(null), { headers: { authorization }, raw: { rawHeaders } })
}
