import { aligned } from './aligned.ts'
import type { Costs } from './contest.ts'
import type { DriverName } from './drivers.ts'
import { PEERS, type Row } from './rows.ts'
import { median, quartiles } from './statistics.ts'

/** The costs of one row, by each driver. */
export interface Measured extends Row {
  readonly costs: ReadonlyMap<DriverName, Costs>
}

/** Every figure of a row, as it was measured. */
export function detailsOf({ kind, algorithm, costs }: Measured): string[] {
  return [...costs].flatMap(([driver, each]) =>
    [...each].map(([name, values]) => {
      const ratios = ratiosOf(each, name, 'none')
      const [low, high] = quartiles(ratios)
      return [
        `${kind} ${algorithm}, ${driver}, ${name}: ${median(values).toFixed(1)} µs a request,`,
        `${median(ratios).toFixed(2)} times the unguarded 200`,
        `(${low.toFixed(2)} to ${high.toFixed(2)})`,
      ].join(' ')
    }),
  )
}

/** The tables of .github/docs/performance.md. A cell has a figure for each driver. */
export function tablesOf(rows: readonly Measured[]): string {
  const isCompared = rows.some(({ contestants }) =>
    contestants.some(({ name }) => name.endsWith('against')),
  )
  const admitted = rows.filter(({ kind }) => kind !== 'refusals' && kind !== 'bound')
  const bound = rows.filter(({ kind }) => kind === 'bound')
  const refused = rows.filter(({ kind }) => kind === 'refusals')
  return [
    ...(admitted.length > 0 ? [admittedTable(admitted, isCompared)] : []),
    ...(bound.length > 0 ? [boundTable(bound)] : []),
    ...refused.map((row) => refusedTable(row, isCompared)),
  ].join('\n\n')
}

/** Hooks that do one thing only. */
const BARE = ['floor', 'verify', 'claims']

/** How many requests we let through for the CPU time in which another server answers one. */
function admittedTable(rows: readonly Measured[], isCompared: boolean): string {
  const head = ['tokens', 'unguarded', ...BARE.map((name) => `\`${name}\``), 'best peer']
  return aligned([
    isCompared ? [...head, 'of --against'] : head,
    ...rows.map((row) => {
      const of = (name: string): string =>
        cell(row, (costs) => ratiosOf(costs, name, 'this plugin'))
      const peer = bestPeer(row)
      const cells = [of('none'), ...BARE.map(of), `${of(peer)} (${peer})`]
      const name = row.kind === 'cold' ? `cold, ${row.algorithm}` : row.kind
      return [name, ...cells, ...(isCompared ? [of('against')] : [])]
    }),
  ])
}

/** A bound token, compared with an unbound one and the bare verification of the proof. */
function boundTable(rows: readonly Measured[]): string {
  const ofParts = (costs: Costs): number[] => {
    const at = (name: string, round: number): number => costs.get(name)?.[round] ?? Number.NaN
    return (costs.get('bound') ?? []).map(
      (cost, round) => cost / (at('unbound', round) + at('proof', round) - at('none', round)),
    )
  }
  return aligned([
    ['bound tokens', 'times an unbound one and the bare proof'],
    ...rows.map((row) => [row.algorithm, cell(row, ofParts)]),
  ])
}

/** How often the CPU time of the unguarded 200 a refusal takes. */
function refusedTable(row: Measured, isCompared: boolean): string {
  const times = (name: string, other: string): string =>
    cell(row, (costs) => ratiosOf(costs, name, other))
  const refusals = row.contestants.filter(
    ({ name }) => name !== 'none' && !name.endsWith(', against'),
  )
  const head = ['refused', 'status', 'times the unguarded 200']
  return aligned([
    isCompared ? [...head, 'times --against'] : head,
    ...refusals.map(({ name, load }) => [
      name === 'refuse' ? 'by a bare hook' : name,
      String(load.status),
      times(name, 'none'),
      ...(isCompared ? [name === 'refuse' ? '' : times(name, `${name}, against`)] : []),
    ]),
  ])
}

/** The peer that a request costs least. */
function bestPeer({ costs }: Measured): string {
  const [first = new Map<string, number[]>()] = costs.values()
  const cost = (name: string): number => median(first.get(name) ?? [Number.POSITIVE_INFINITY])
  return PEERS.reduce((best, peer) => (cost(peer) < cost(best) ? peer : best), PEERS[0])
}

/** Empty where the row has no such contestant. */
function cell({ costs }: Measured, ratios: (costs: Costs) => number[]): string {
  const all = [...costs.values()].map(ratios).filter((values) => values.length > 0)
  return all.map((values) => median(values).toFixed(2)).join('/')
}

/** Of each round by itself, since the machine is not as fast in every round. */
function ratiosOf(costs: Costs, name: string, other: string): number[] {
  const others = costs.get(other) ?? []
  return (costs.get(name) ?? []).map((cost, round) => cost / (others[round] ?? Number.NaN))
}
