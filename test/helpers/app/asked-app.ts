import type { TestContext } from 'node:test'
import type { FastifyInstance } from 'fastify'
import tenantAuth from '../../../lib/index.ts'
import { holdTime } from '../processes/age-by-date.ts'
import { bareApp, trusting, untyped } from './guarded-app.ts'
import { type LogLines, logLines } from './log-lines.ts'

export interface AskedApp<About> {
  readonly app: FastifyInstance
  readonly log: LogLines
  /** What the function was asked about since the last call. */
  asked(): About[]
  pass(seconds: number): void
}

/**
 * A guarded application with one function that the test writes, on a clock that the test moves. The
 * options may be anything, as in JavaScript. The authority is trusted unless they name keys or
 * issuers.
 */
export async function askedApp<About>(
  t: TestContext,
  option: 'issuers' | 'opaqueToken' | 'resourcesOf',
  answer: (about: About) => unknown,
  more: object = {},
): Promise<AskedApp<About>> {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: Date.now() })
  const asked: About[] = []
  const log = logLines()
  const app = bareApp(t, { logger: log.logger })
  const ask = (about: About) => {
    asked.push(about)
    return answer(about)
  }
  const given = untyped({ ...more, [option]: ask })
  const isWhole = given.issuers !== undefined || given.publicKeys !== undefined
  await app.register(tenantAuth, isWhole ? given : trusting(given))
  app.get('/t/:tenant', async () => 'ok')
  app.get('/needs/:tenant', { config: { require: 'menu:read' } }, async () => 'ok')
  app.get('/me', { config: { authorization: true } }, async ({ authorization }) => authorization)
  await app.ready()
  return {
    app,
    log,
    asked: () => asked.splice(0),
    pass: (seconds) => t.mock.timers.tick(seconds * 1000),
  }
}
