import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { ReportChange } from '../../../lib/platform/http/document-status.ts'
import { FetchFailure } from '../../../lib/platform/http/failure.ts'
import type { Freshness } from '../../../lib/platform/http/freshness.ts'
import { RemoteDocument } from '../../../lib/platform/http/remote-document.ts'
import type { TimeLimit } from '../../../lib/platform/runtime/timer.ts'
import { holdTime } from '../processes/age-by-date.ts'

/** Round numbers, in seconds. */
export const FRESHNESS: Freshness = {
  timeout: 5,
  maxAge: 600,
  maxStale: 3600,
  retry: 1,
  retryMax: 30,
}

interface Load {
  /** When it began, in seconds since the test began. */
  readonly at: number
  readonly signal: AbortSignal
  readonly resolve: (value: string) => void
  readonly reject: (error: Error) => void
}

/**
 * A remote document of strings. The test ends its loads by hand, and moves its clock by hand. Like
 * a fetch, a load fails when its signal is aborted.
 */
export function controlledDocument(
  t: TestContext,
  freshness: Partial<Freshness> = {},
  onChange?: ReportChange,
) {
  const begin = 1_800_000_000_000
  holdTime(t, { apis: ['Date', 'setTimeout'], now: begin })
  const loads: Load[] = []
  const failures: string[] = []
  const addresses: (string | null)[] = []
  const load = ({ signal }: TimeLimit) =>
    new Promise<string>((resolve, reject) => {
      loads.push({ at: (Date.now() - begin) / 1000, signal, resolve, reject })
      signal.addEventListener('abort', () => reject(new FetchFailure('no answer in time')))
    })
  const document = new RemoteDocument(
    { url: 'https://login.test/keys?secret', load },
    { ...FRESHNESS, ...freshness },
    {
      onFailure(reason, url) {
        failures.push(reason)
        addresses.push(url)
      },
      ...(onChange && { onChange }),
    },
  )
  const last = (): Load => {
    const latest = loads.at(-1)
    if (latest === undefined) throw new Error('no load has begun')
    return latest
  }
  return {
    document,
    loads,
    failures,
    /** The addresses that came with the failures. */
    addresses,
    /** Moves clock and timers on. */
    async pass(seconds: number): Promise<void> {
      t.mock.timers.tick(seconds * 1000)
      await setImmediate()
    },
    /** Ends the current load with this. */
    async succeed(value: string): Promise<void> {
      last().resolve(value)
      await setImmediate()
    },
    /** Lets the current load fail. */
    async fail(error: Error = new FetchFailure('answered with status 500')): Promise<void> {
      last().reject(error)
      await setImmediate()
    },
  }
}

/** A remote document that is open, and was loaded once. */
export async function loadedDocument(t: TestContext, freshness: Partial<Freshness> = {}) {
  const controlled = controlledDocument(t, freshness)
  controlled.document.open()
  if (freshness.isLazy) controlled.document.current()
  await controlled.succeed('one')
  return controlled
}
