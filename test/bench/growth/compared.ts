import type { FastifyInstance } from 'fastify'
import { settledHeap } from '../../helpers/processes/used-heap.ts'
import { floor } from './application.ts'
import type { Ask } from './exchange.ts'
import type { Row, Series, Size } from './measure.ts'
import { asking } from './requests.ts'

/** An application of one size, and what it is asked in turn. */
export interface Built {
  readonly app: FastifyInstance
  readonly asks: readonly Ask[]
  /** How many requests are sent at once. @default 1 */
  readonly atOnce?: number
  /** What gets the same requests. @default floor */
  readonly beside?: () => Promise<FastifyInstance>
  readonly bytes?: number | undefined
}

export type Build = (size: number) => Promise<Built>

/**
 * A row of applications of growing size, each beside a floor that gets the same requests.
 *
 * @param ways what stands in the table, and how one size of it is built
 */
export function growing(
  name: string,
  sizes: readonly number[],
  ways: Readonly<Record<string, Build>>,
): Row {
  return {
    name,
    sizes,
    async *series(wanted) {
      for (const [what, build] of Object.entries(ways)) yield await compared(what, wanted, build)
    },
  }
}

export async function compared(
  what: string,
  wanted: readonly number[],
  build: Build,
): Promise<Series> {
  const apps: FastifyInstance[] = []
  const sizes: Size[] = []
  // One after the other, for the sake of the memory that is measured.
  for (const size of wanted) {
    const { app, asks, atOnce = 1, beside = floor, bytes } = await build(size)
    const below = await beside()
    apps.push(app, below)
    // The floor refuses none.
    const passed = asks.map((ask) => ({ ...ask, status: 200 }))
    const subject = asking(app, asks, atOnce)
    const control = asking(below, passed, atOnce)
    // Each request has come once before it is measured.
    await subject(Math.ceil(asks.length / atOnce))
    await control(Math.ceil(asks.length / atOnce))
    sizes.push({ size: `${size}`, subject, control, bytes })
  }
  return {
    what,
    sizes,
    isFlat: true,
    async close() {
      for (const app of apps) await app.close()
    },
  }
}

/** With fewer, the heap's own growth is larger than theirs. */
const ENOUGH = 800

/** What was made, and the memory that each part of it keeps alive. */
export interface Made<T> {
  readonly made: T
  /** Undefined: there are too few for a figure. */
  readonly bytes: number | undefined
}

/** Makes something that has so many parts. */
export async function keptBytes<T>(count: number, make: () => Promise<T>): Promise<Made<T>> {
  if (count < ENOUGH) return { made: await make(), bytes: undefined }
  const before = await bytesNow()
  const made = await make()
  return { made, bytes: ((await bytesNow()) - before) / count }
}

/** V8's heap, and the buffers beside it. Keys of OpenSSL are not seen. */
async function bytesNow(): Promise<number> {
  return (await settledHeap()) + process.memoryUsage().external
}
