import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from './compiled.ts'

/** Whether a part of a program has run. A later range within an earlier one says it better. */
export type Range = readonly [start: number, end: number, hasRun: boolean]

/** By the path of each file of `lib/` that has run; a list for each time that it was loaded. */
export type Coverage = Readonly<Record<string, readonly (readonly Range[])[]>>

/** What runs while a function does. */
export async function coverageOf<T>(
  run: () => Promise<T>,
): Promise<{ readonly given: T; readonly coverage: Coverage }> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { detailed: true })
  const given = await run()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  const coverage: Record<string, Range[][]> = {}
  for (const { url, functions } of result) {
    if (!url.startsWith('file:')) continue
    const path = relative(ROOT, fileURLToPath(url))
    if (!path.startsWith('lib/')) continue
    const ranges = functions.flatMap((one) => one.ranges)
    const list = coverage[path] ?? []
    coverage[path] = list
    list.push(ranges.map((range) => [range.startOffset, range.endOffset, range.count > 0]))
  }
  return { given, coverage }
}

/** Whether a position of a file has run. */
export function hasRun(coverage: Coverage, path: string, position: number): boolean {
  return (coverage[path] ?? []).some((ranges) => {
    const around = ranges.filter(([start, end]) => start <= position && position < end)
    return around.at(-1)?.[2] ?? false
  })
}

/** How many parts of a file have run. */
export function partsRun(coverage: Coverage, path: string): number {
  const loads = coverage[path] ?? []
  return Math.max(0, ...loads.map((ranges) => ranges.filter(([, , hasRun]) => hasRun).length))
}
