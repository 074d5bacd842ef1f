import { setImmediate } from 'node:timers/promises'

/** What a process holds. */
export interface Measured {
  /** Bytes in use after collections. */
  readonly heap: number
  /** Bytes. */
  readonly rss: number
  /** How many resources of each type keep the process alive. */
  readonly handles: Readonly<Record<string, number>>
  /** Entries of the deny list in memory. */
  readonly entries: number
}

/** Measures this process, which needs `--expose-gc`. */
export async function measure(entries: number): Promise<Measured> {
  // One collection leaves what another thread is looking at.
  for (let i = 0; i < 2; i++) {
    await setImmediate()
    globalThis.gc?.()
  }
  const handles: Record<string, number> = {}
  for (const type of process.getActiveResourcesInfo()) handles[type] = (handles[type] ?? 0) + 1
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed, rss, handles, entries }
}
