import type { Verdict } from './examiner.ts'
import type { Mutant } from './mutant.ts'
import { type Survivor, survivorKey } from './survivor.ts'

/** A mutant, and what became of it. */
export interface Examined extends Verdict {
  readonly mutant: Mutant
}

/** Per cent of the mutants that are not equivalent that tests must kill. */
export const GOAL = 97

/** What a run has found. */
export class Report {
  readonly #examined: readonly Examined[]
  readonly #survivors: ReadonlyMap<string, Survivor>

  constructor(examined: readonly Examined[], survivors: ReadonlyMap<string, Survivor>) {
    this.#examined = examined
    this.#survivors = survivors
  }

  /** Survivors that are not written down. */
  get unknown(): readonly Examined[] {
    return this.#examined.filter((one) => isAlive(one) && this.#listed(one) === undefined)
  }

  /** Mutants that are written down as survivors, and are killed. */
  get revived(): readonly Examined[] {
    return this.#examined.filter((one) => !isAlive(one) && this.#listed(one) !== undefined)
  }

  /** Per cent of the mutants that are not equivalent that tests have killed. */
  get score(): number {
    return scoreOf(this.#examined.filter((one) => !this.#isEquivalent(one)))
  }

  /** A line for each room, and one for all. */
  table(rooms: readonly string[]): string {
    const rows = rooms.map((room) => {
      const prefix = `lib/${room}/`
      return this.#row(room, (one) => one.mutant.file.startsWith(prefix))
    })
    const head = ['room', 'mutants', 'killed', 'timeouts', 'survivors', 'equivalent', '%', 's each']
    return [head, ...rows, this.#row('all', () => true)]
      .map((row) =>
        row.map((cell, at) => (at === 0 ? cell.padEnd(16) : cell.padStart(11))).join(''),
      )
      .join('\n')
  }

  #row(name: string, isIn: (one: Examined) => boolean): string[] {
    const all = this.#examined.filter(isIn)
    const equivalent = all.filter((one) => this.#isEquivalent(one))
    const seconds = all.reduce((sum, one) => sum + one.seconds, 0)
    return [
      name,
      String(all.length),
      ...(['killed', 'timeout', 'survived'] as const).map((result) =>
        String(all.filter((one) => one.result === result).length),
      ),
      String(equivalent.length),
      scoreOf(all.filter((one) => !equivalent.includes(one))).toFixed(1),
      (seconds / Math.max(all.length, 1)).toFixed(2),
    ]
  }

  #listed({ mutant }: Examined): Survivor | undefined {
    return this.#survivors.get(survivorKey(mutant))
  }

  #isEquivalent(one: Examined): boolean {
    return isAlive(one) && this.#listed(one)?.kind === 'equivalent'
  }
}

function isAlive({ result }: Examined): boolean {
  return result === 'survived'
}

function scoreOf(examined: readonly Examined[]): number {
  const killed = examined.filter((one) => !isAlive(one)).length
  return examined.length === 0 ? 100 : (killed / examined.length) * 100
}
