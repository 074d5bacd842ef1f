import assert from 'node:assert/strict'
import type { FastifyInstance } from 'fastify'
import { ERR_AUTH_CONFIG_INVALID } from '../../../lib/errors.ts'

/** Whether a boot error is ours, with each of these parts in its message. */
export function configError(...parts: (string | RegExp)[]) {
  return (error: unknown): true => {
    assert.ok(error instanceof ERR_AUTH_CONFIG_INVALID, `no ERR_AUTH_CONFIG_INVALID: ${error}`)
    assert.equal(error.code, 'ERR_AUTH_CONFIG_INVALID')
    for (const part of parts) {
      if (typeof part === 'string') assert.ok(error.message.includes(part), lacks(error, part))
      else assert.match(error.message, part)
    }
    return true
  }
}

function lacks(error: Error, part: string): string {
  return `expected ${JSON.stringify(part)} in the message: ${error.message}`
}

/** The mistake in a route stops the boot, with this message. */
export async function assertRouteInvalid(app: FastifyInstance, message: string | RegExp) {
  await assert.rejects(async () => app.ready(), { code: 'ERR_AUTH_ROUTE_INVALID', message })
}
