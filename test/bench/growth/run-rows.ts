import { type Effort, type Growth, isFlat, LIMIT, measure } from './measure.ts'
import type { Row, Series } from './series.ts'

/** Measures rows, and prints a line for each size. Tells those that are not flat. */
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
    series.isFlat ? verdict : 'told',
    bytes === undefined ? '' : `${Math.round(bytes)}`,
  ]
  return `| ${cells.join(' | ')} |`
}
