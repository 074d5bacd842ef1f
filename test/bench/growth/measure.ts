import { setImmediate } from 'node:timers/promises'
import { median } from '../statistics.ts'

/** What is done so often. */
export type Work = (times: number) => void | Promise<void>

/** One size of what grows. */
export interface Size {
  readonly size: string
  readonly subject: Work
  /** The same without what grows: it is measured beside the subject, in each round. */
  readonly control: Work
  /** Memory that each one keeps alive; undefined: too few for a figure. */
  readonly bytes?: number | undefined
}

/** Sizes that should cost the same, the smallest first. */
export interface Series {
  readonly what: string
  readonly sizes: readonly Size[]
  /** False: the figures are reported, and are not to be the same. */
  readonly isFlat: boolean
  /** Lets go what was built. */
  close?(): Promise<void>
}

/** One thing that grows, and the ways in which a request can meet it. */
export interface Row {
  readonly name: string
  readonly sizes: readonly number[]
  /** Each is built when the one before it has been measured. */
  series(sizes: readonly number[]): AsyncIterable<Series>
}

/** Most by which a cost may grow that is called flat. */
export const LIMIT = 1.1

/** How long is measured. */
export interface Effort {
  readonly rounds: number
  /** Microseconds of CPU time of one part of a round. */
  readonly slice: number
}

export interface Growth {
  readonly size: string
  /** Cost, against the control's. */
  readonly ratio: number
  /** The ratio, against that of the smallest size. */
  readonly growth: number
  readonly bytes: number | undefined
}

/**
 * The cost of each size, by the CPU time of this process. A machine is faster in one second than in
 * the next, so that figures are compared within a round only, whose parts are short.
 */
export async function measure(sizes: readonly Size[], effort: Effort): Promise<Growth[]> {
  const times = new Map<Size, number>()
  for (const size of sizes) times.set(size, await timesIn(size.subject, effort.slice))
  const ratios = new Map<Size, number[]>(sizes.map((size) => [size, []]))
  for (let round = -Math.ceil(effort.rounds / 10); round < effort.rounds; round++) {
    // Back and forth, so that no size always runs after the same one.
    for (const size of round % 2 === 0 ? sizes : [...sizes].reverse()) {
      const ratio = await ratioOf(size, times.get(size) ?? 1)
      if (round >= 0) ratios.get(size)?.push(ratio)
    }
  }
  const [smallest = []] = ratios.values()
  return sizes.map((of) => {
    const own = ratios.get(of) ?? []
    const growth = median(own.map((ratio, round) => ratio / (smallest[round] ?? Number.NaN)))
    return { size: of.size, ratio: median(own), growth, bytes: of.bytes }
  })
}

export function isFlat(growths: readonly Growth[]): boolean {
  return growths.every(({ growth }) => growth <= LIMIT)
}

async function ratioOf({ subject, control }: Size, times: number): Promise<number> {
  const first = await cpuTime(control, times)
  const both = (await cpuTime(subject, times)) + (await cpuTime(subject, times))
  return both / (first + (await cpuTime(control, times)))
}

/** How often work fits into a slice. Brings it to speed, too. */
async function timesIn(work: Work, slice: number): Promise<number> {
  let times = 1
  while ((await cpuTime(work, times)) < slice) times *= 2
  return times
}

/** After a turn of the event loop. Without one, what was to end with a turn would pile up. */
async function cpuTime(work: Work, times: number): Promise<number> {
  await setImmediate()
  const before = process.cpuUsage()
  await work(times)
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Measures rows, and prints a line for each size. Returns those that are not flat. */
export async function runRows(
  rows: readonly Row[],
  effort: Effort,
  print: (line: string) => void,
): Promise<string[]> {
  const notFlat: string[] = []
  if (rows.length === 0) return notFlat
  print(`| what grows | size | of the control | growth | within ${LIMIT} | bytes of each |`)
  print('|---|---|---|---|---|---|')
  for (const row of rows) {
    for await (const series of row.series(row.sizes)) {
      const growths = await growthsOf(series, effort)
      for (const growth of growths) print(lineOf(series, growth))
      if (series.isFlat && !isFlat(growths)) notFlat.push(series.what)
      await series.close?.()
    }
  }
  return notFlat
}

/** What is not flat is looked at a second time, twice as long. */
async function growthsOf({ sizes, isFlat: mustBe }: Series, effort: Effort): Promise<Growth[]> {
  const growths = await measure(sizes, effort)
  if (!mustBe || isFlat(growths)) return growths
  return measure(sizes, { ...effort, rounds: effort.rounds * 2 })
}

function lineOf(series: Series, { size, ratio, growth, bytes }: Growth): string {
  const verdict = growth <= LIMIT ? 'flat' : 'NOT flat'
  const cells = [
    series.what,
    size,
    ratio.toFixed(2),
    growth.toFixed(2),
    series.isFlat ? verdict : 'reported',
    bytes === undefined ? '' : `${Math.round(bytes)}`,
  ]
  return `| ${cells.join(' | ')} |`
}
