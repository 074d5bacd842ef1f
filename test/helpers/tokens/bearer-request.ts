import type { FastifyRequest } from 'fastify'

/** As much of a request as an authenticator reads, with a header that is one piece of memory, as Node hands it out. */
export function bearerRequest(header: string, lines: readonly string[] = []): FastifyRequest {
  const authorization = Buffer.from(header, 'latin1').toString('latin1')
  const rawHeaders = ['Host', 'a.test', 'Authorization', authorization, ...lines]
  return Object.assign(Object.create(null), { headers: { authorization }, raw: { rawHeaders } })
}
