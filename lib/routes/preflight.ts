import type { FastifyRequest } from 'fastify'

/**
 * Whether a request is a CORS preflight (Fetch §3.2.2) and can be nothing else: without credentials, and without
 * a body, which would be parsed on the way.
 */
export function isPreflight(request: FastifyRequest): boolean {
  if (request.method !== 'OPTIONS') return false
  const { headers } = request
  return (
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined &&
    headers.authorization === undefined &&
    headers['transfer-encoding'] === undefined &&
    headers['content-type'] === undefined &&
    (headers['content-length'] ?? '0') === '0'
  )
}
