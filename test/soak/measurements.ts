import type { Measured } from './orders.ts'

/** Bytes of the heap that an entry of the deny list may take; `bench:growth` prints the use. */
const BYTES_OF_ENTRY = 700

/** Bytes that a user may take whose rights were asked for. The last 10 000 are kept. */
const BYTES_OF_USER = 1700

/** Bytes that a heap may grow by apart from those, from the first quarter to the last. */
const MOST_GROWN = 4 * 1024 * 1024

/** Handles of one type that may be more in the last quarter than in the first. */
const MOST_MORE = 10

/** The part of a soak in which caches fill, and code is compiled. */
const WARM_UP = 0.05

/** A process that reports what it holds; undefined where it has ended. */
export interface Measurable {
  measure(): Promise<Measured | undefined>
}

interface Sample extends Measured {
  /** From 0, the begin of the soak, to 1. */
  readonly at: number
}

/** One quarter of a soak, in one process. */
interface Quarter {
  readonly heap: number
  readonly rss: number
  readonly entries: number
  readonly users: number
  readonly handles: Readonly<Record<string, number>>
}

/** What the processes hold, from the begin to the end. */
export class Measurements {
  readonly #processes: readonly Measurable[]
  readonly #samples: Sample[][]

  constructor(processes: readonly Measurable[]) {
    this.#processes = processes
    this.#samples = processes.map(() => [])
  }

  /** @param at the part of the soak that is over */
  async take(at: number): Promise<void> {
    await Promise.all(
      this.#processes.map(async (process, index) => {
        const measured = await process.measure()
        if (measured !== undefined) this.#samples[index]?.push({ ...measured, at })
      }),
    )
  }

  /** What was held last, in a line. */
  get latest(): string {
    const last = this.#samples.flatMap((samples) => samples.slice(-1))
    const each = (of: (sample: Sample) => number | string) => last.map(of).join('/')
    return [
      `heap ${each(({ heap }) => megabytes(heap))} MB`,
      `rss ${each(({ rss }) => megabytes(rss))} MB`,
      `sockets ${each(({ handles }) => handles['TCPSocketWrap'] ?? 0)}`,
      `entries ${each(({ entries }) => entries)}`,
    ].join(', ')
  }

  lines(): string[] {
    return this.#samples.flatMap((samples, process) => [
      `process ${process}:`,
      ...[0, 1, 2, 3].map(
        (number) => `  quarter ${number + 1}: ${shown(quarterOf(samples, number))}`,
      ),
    ])
  }

  /** What has grown that should not. */
  troubles(): string[] {
    return this.#samples.flatMap((samples, process) => {
      const [first, last] = [quarterOf(samples, 0), quarterOf(samples, 3)]
      const entries = (last.entries - first.entries) * BYTES_OF_ENTRY
      const users = (last.users - first.users) * BYTES_OF_USER
      const allowed = MOST_GROWN + entries + users
      const grown = last.heap - first.heap
      const heap =
        grown > allowed
          ? [`the heap of process ${process} has grown by ${megabytes(grown)} MB`]
          : []
      const handles = Object.entries(last.handles)
        .filter(([type, count]) => count > (first.handles[type] ?? 0) + MOST_MORE)
        .map(([type, count]) => `process ${process} has ${count} handles of type ${type}`)
      return [...heap, ...handles]
    })
  }
}

/** The least heap, since a burst is no growth, and what there was of the others mostly. */
function quarterOf(samples: readonly Sample[], number: number): Quarter {
  const begin = number === 0 ? WARM_UP : number / 4
  const these = samples.filter(({ at }) => at >= begin && at <= (number + 1) / 4)
  const types = [...new Set(these.flatMap(({ handles }) => Object.keys(handles)))]
  return {
    heap: Math.min(...these.map(({ heap }) => heap)),
    rss: median(these.map(({ rss }) => rss)),
    entries: median(these.map(({ entries }) => entries)),
    users: median(these.map(({ users }) => users)),
    handles: Object.fromEntries(
      types.map((type) => [type, median(these.map(({ handles }) => handles[type] ?? 0))]),
    ),
  }
}

function shown({ heap, rss, entries, users, handles }: Quarter): string {
  const sizes = [
    `heap ${megabytes(heap)} MB`,
    `rss ${megabytes(rss)} MB`,
    `${entries} entries`,
    `${users} users`,
  ]
  const counts = Object.entries(handles).map(([type, count]) => `${type} ${count}`)
  return [...sizes, ...counts.sort()].join(', ')
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1)
}
