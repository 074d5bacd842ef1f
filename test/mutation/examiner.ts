import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { digest, ROOT } from './compiled.ts'
import { KnownTests } from './known-tests.ts'
import { Laboratory } from './laboratory.ts'
import type { Mutant } from './mutant.ts'
import { nearestTests } from './nearest-tests.ts'
import { Notebook } from './notebook.ts'

/** What became of a mutant. */
export interface Verdict {
  /** `timeout` counts as killed. */
  readonly result: 'killed' | 'timeout' | 'survived'
  /** The test files that were run, the last of which has killed it. */
  readonly tests: readonly string[]
  readonly seconds: number
}

interface NotedVerdict extends Verdict {
  readonly reach: number
  /** Digest of the tests. */
  readonly texts: string
}

/** Milliseconds of work of the tests that a mutant must survive. */
const ENOUGH = 5000

/** Milliseconds of work that a test may always take longer than without a mutant. */
const PATIENCE = 5000

/** Runs the tests of a mutant, the nearest first, up to the one that kills it. */
export class Examiner {
  readonly #laboratory = new Laboratory()
  readonly #tests = new KnownTests(this.#laboratory)
  readonly #notebook = new Notebook<NotedVerdict>('verdicts')
  readonly #reach: number

  /** @param reach how many groups of the nearest tests are run */
  constructor(reach: number) {
    this.#reach = reach
  }

  async examine(mutant: Mutant): Promise<Verdict> {
    const noted = this.#notebook.read(mutant.id)
    if (noted && this.#isCurrent(noted)) return noted
    const from = performance.now()
    const tests: string[] = []
    const result = await this.#resultOf(mutant, tests)
    const verdict = { result, tests, seconds: (performance.now() - from) / 1000 }
    this.#notebook.write(mutant.id, { ...verdict, reach: this.#reach, texts: textsOf(tests) })
    return verdict
  }

  /** A survivor is examined anew when one of its tests has changed. */
  #isCurrent({ result, tests, reach, texts }: NotedVerdict): boolean {
    return result !== 'survived' || (reach >= this.#reach && textsOf(tests) === texts)
  }

  close(): void {
    this.#laboratory.close()
  }

  async #resultOf(mutant: Mutant, run: string[]): Promise<Verdict['result']> {
    let spent = 0
    for (const group of nearestTests(mutant.file).slice(0, this.#reach)) {
      if (spent > ENOUGH) return 'survived'
      for (const { test, work } of await this.#tests.covering(mutant, group)) {
        if (spent > ENOUGH) return 'survived'
        spent += work
        run.push(test)
        const result = await this.#resultBy(test, mutant, work * 3 + PATIENCE)
        if (result !== 'survived') return result
      }
    }
    return 'survived'
  }

  async #resultBy(test: string, mutant: Mutant, limit: number): Promise<Verdict['result']> {
    const task = { test, changed: mutant.changed, withCoverage: false }
    const outcome = await this.#laboratory.run(task, limit)
    if (typeof outcome === 'string') return 'timeout'
    return outcome.failed === null ? 'survived' : 'killed'
  }
}

function textsOf(tests: readonly string[]): string {
  return digest(...tests.map((test) => readFileSync(join(ROOT, test), 'utf8')))
}
