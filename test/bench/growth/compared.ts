import type { FastifyInstance } from 'fastify'
import type { Ask } from './exchange.ts'
import { floor } from './guarded.ts'
import { asking } from './requests.ts'
import type { Series, Size } from './series.ts'

export interface Built {
  readonly size: string
  readonly app: FastifyInstance
  readonly asks: readonly Ask[]
  readonly bytes?: number | undefined
}

/** Applications of growing size, each beside a floor that gets the same requests. */
export async function compared(what: string, built: readonly Built[]): Promise<Series> {
  const floors: FastifyInstance[] = []
  const sizes: Size[] = []
  for (const { size, app, asks, bytes } of built) {
    const beside = await floor()
    // The floor refuses none.
    const passed = asks.map((ask) => ({ ...ask, status: 200 }))
    const [subject, control] = [asking(app, asks), asking(beside, passed)]
    // Each request has come once before it is measured.
    await subject(asks.length)
    await control(asks.length)
    floors.push(beside)
    sizes.push({ size, subject, control, bytes })
  }
  return {
    what,
    sizes,
    isFlat: true,
    async close() {
      for (const app of [...floors, ...built.map((each) => each.app)]) await app.close()
    },
  }
}
