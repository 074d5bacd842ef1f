import type { Costs } from './contest.ts'
import type { DriverName } from './drivers.ts'
import { AGAIN, type Kind, PEERS, type Row } from './rows.ts'
import { median, quartiles } from './statistics.ts'

/** The costs of one row, by each driver. */
export interface Measured extends Pick<Row, 'kind' | 'name'> {
  readonly costs: ReadonlyMap<DriverName, Costs>
}

/** The costs of one row by one driver. */
interface DriverRow extends Pick<Row, 'kind' | 'name'> {
  readonly costs: Costs
}

/** Every cost of a row, as it was measured. */
export function detailsOf({ name, costs }: Measured): string[] {
  return [...costs].flatMap(([driver, each]) =>
    [...each].map(([contestant, values]) => {
      const [low, high] = quartiles(values)
      const cost = `${median(values).toFixed(1)} µs (${low.toFixed(1)}–${high.toFixed(1)})`
      return `${name}, ${driver}, ${contestant}: ${cost}`
    }),
  )
}

/** The tables of .github/docs/performance.md. */
export function tablesOf(measured: readonly Measured[]): string {
  const drivers = [...new Set(measured.flatMap(({ costs }) => [...costs.keys()]))]
  return drivers
    .flatMap((driver) => {
      const rows = measured.flatMap(({ costs, ...row }) => {
        const each = costs.get(driver)
        return each === undefined ? [] : [{ ...row, costs: each }]
      })
      return [...(drivers.length > 1 ? [`By ${driver}:`] : []), ...tablesOfDriver(rows)]
    })
    .join('\n\n')
}

function tablesOfDriver(rows: readonly DriverRow[]): string[] {
  const of = (...kinds: readonly Kind[]): DriverRow[] =>
    rows.filter(({ kind }) => kinds.includes(kind))
  return [
    admittedTable(of('warm', 'many', 'cold')),
    timesTable('option', 'times the same without it', of('asyncContext')),
    timesTable('token', 'times an unbound one and the bare proof', of('bound')),
    timesTable('refused', 'times the unguarded 200', of('refusals')),
    timesTable('import', 'times @fastify/jwt', of('import')),
  ].filter((table) => table !== '')
}

/** Who is compared, and what a table calls it. */
const OTHERS: readonly (readonly [contestant: string, name: string])[] = [
  ['none', 'unguarded'],
  ...['floor', 'verify', 'claims'].map((name) => [name, `\`${name}\``] as const),
  ...PEERS.map((name) => [name, name] as const),
  ['against', '--against'],
  [AGAIN, 'the same server again'],
]

/** How many requests we let through for the CPU time in which another server answers one. */
function admittedTable(rows: readonly DriverRow[]): string {
  if (rows.length === 0) return ''
  const lines = OTHERS.map(([contestant, name]) => [
    name,
    ...rows.map((row) => {
      const cell = ratioText(ratiosOf(row.costs, contestant, 'this plugin'), noiseOf(row))
      return contestant === bestPeer(row.costs) ? `**${cell}**` : cell
    }),
  ])
  return aligned([
    ['requests for one of', ...rows.map(({ name }) => name)],
    ...lines.filter(([, ...cells]) => cells.some((cell) => cell !== '')),
  ])
}

/** How often the CPU time of another server each one takes. */
function timesTable(what: string, head: string, rows: readonly DriverRow[]): string {
  if (rows.length === 0) return ''
  const lines = rows.flatMap((row) =>
    timesOf(row).map(([name, ratios]) => [name, ratioText(ratios, noiseOf(row))]),
  )
  return aligned([[what, head], ...lines])
}

type Times = readonly (readonly [name: string, ratios: readonly number[]])[]

function timesOf({ kind, name, costs }: DriverRow): Times {
  switch (kind) {
    case 'bound':
      return [
        [name, boundRatios(costs)],
        [`${name}, the same server again`, ratiosOf(costs, AGAIN, 'bound')],
      ]
    case 'refusals':
      return [...costs.keys()]
        .filter((each) => each !== 'none')
        .map((each) => [
          each === AGAIN ? 'the unguarded server again' : each,
          ratiosOf(costs, each, 'none'),
        ])
    case 'import':
      return [...costs.keys()]
        .filter((each) => each !== '@fastify/jwt')
        .map((each) =>
          each === AGAIN
            ? [`${name}, the same again`, ratiosOf(costs, AGAIN, 'this plugin')]
            : [`${name}, ${each}`, ratiosOf(costs, each, '@fastify/jwt')],
        )
    default:
      return [
        [`\`${kind}\``, ratiosOf(costs, 'on', 'this plugin')],
        ['the same server again', ratiosOf(costs, AGAIN, 'this plugin')],
      ]
  }
}

/** A bound token, against an unbound one and the bare verification of the proof. */
function boundRatios(costs: Costs): number[] {
  const at = (name: string, round: number): number => costs.get(name)?.[round] ?? Number.NaN
  return (costs.get('bound') ?? []).map(
    (cost, round) => cost / (at('unbound', round) + at('proof', round) - at('none', round)),
  )
}

/** Which contestant runs twice. */
const TWICE: Partial<Record<Kind, string>> = { bound: 'bound', refusals: 'none' }

/** How far two equal servers are apart: the quartile of their ratios that is farther from 1. */
function noiseOf({ kind, costs }: DriverRow): number {
  const ratios = ratiosOf(costs, AGAIN, TWICE[kind] ?? 'this plugin')
  return Math.max(...quartiles(ratios).map((ratio) => Math.abs(ratio - 1)))
}

/** The peer that a request costs least. Undefined: there is none. */
function bestPeer(costs: Costs): string | undefined {
  const cost = (name: string): number => median(costs.get(name) ?? [])
  const [best] = PEERS.filter((name) => costs.has(name)).sort((a, b) => cost(a) - cost(b))
  return best
}

/** Median and quartiles. "≈" says that equal servers are as far apart. */
function ratioText(ratios: readonly number[], noise: number): string {
  if (ratios.length === 0) return ''
  const [middle, low, high] = [median(ratios), ...quartiles(ratios)]
  const mark = Math.abs(middle - 1) > noise ? '' : '≈ '
  return `${mark}${middle.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`
}

/** Of each round by itself, since the machine is not as fast in every round. */
function ratiosOf(costs: Costs, name: string, other: string): number[] {
  const others = costs.get(other) ?? []
  return (costs.get(name) ?? []).map((cost, round) => cost / (others[round] ?? Number.NaN))
}

/** A table in Markdown whose columns are as wide as their widest cells. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => {
    return Math.max(...rows.map((row) => row[at]?.length ?? 0))
  })
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const [head = [], ...others] = rows.map((row) =>
    line(row.map((text, at) => text.padEnd(widths[at] ?? 0))),
  )
  return [head, line(widths.map((width) => '-'.repeat(width))), ...others].join('\n')
}
