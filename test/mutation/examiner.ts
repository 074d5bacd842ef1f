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
  /** Digest of the tests that are near. */
  readonly texts: string
}

/** Milliseconds of work of the tests of one group that a mutant must survive. */
const ENOUGH = 3000

/** Milliseconds of work that a test may always take longer than without a mutant. */
const PATIENCE = 5000

/** Runs the tests of a mutant, the nearest first, up to the one that kills it. */
export class Examiner {
  readonly #laboratory = new Laboratory()
  readonly #tests = new KnownTests(this.#laboratory)
  readonly #notebook = new Notebook<NotedVerdict>('verdicts')
  readonly #reach: number
  /** By the path of a file, tests that have killed mutants of it. */
  readonly #killers = new Map<string, Set<string>>()

  /** @param reach how many groups of the nearest tests are run */
  constructor(reach: number) {
    this.#reach = reach
  }

  async examine(mutant: Mutant): Promise<Verdict> {
    const noted = this.#notebook.read(mutant.id)
    const texts = textsNear(mutant.file)
    const isSettled = noted?.result !== 'survived'
    if (noted && (isSettled || (noted.reach >= this.#reach && noted.texts === texts))) {
      this.#learn(mutant, noted)
      return noted
    }
    const from = performance.now()
    const tests: string[] = []
    const result = await this.#resultOf(mutant, tests)
    const verdict = { result, tests, seconds: (performance.now() - from) / 1000 }
    this.#learn(mutant, verdict)
    this.#notebook.write(mutant.id, { ...verdict, reach: this.#reach, texts })
    return verdict
  }

  close(): void {
    this.#laboratory.close()
  }

  /** The tests that have killed other mutants of the file come first. */
  async #resultOf(mutant: Mutant, run: string[]): Promise<Verdict['result']> {
    const groups = nearestTests(mutant.file).slice(0, this.#reach)
    const near = groups.flat()
    // One that was noted may be gone since.
    const killers = [...(this.#killers.get(mutant.file) ?? [])].filter((test) =>
      near.includes(test),
    )
    for (const group of [killers, ...groups]) {
      let spent = 0
      for (const { test, work } of await this.#tests.covering(mutant, group)) {
        if (run.includes(test)) continue
        if (spent > ENOUGH) break
        spent += work
        run.push(test)
        const result = await this.#resultBy(test, mutant, work * 3 + PATIENCE)
        if (result !== 'survived') return result
      }
    }
    return 'survived'
  }

  #learn({ file }: Mutant, { result, tests }: Verdict): void {
    const killer = tests.at(-1)
    if (result === 'survived' || killer === undefined) return
    this.#killers.set(file, (this.#killers.get(file) ?? new Set()).add(killer))
  }

  async #resultBy(test: string, mutant: Mutant, limit: number): Promise<Verdict['result']> {
    const task = { test, changed: mutant.changed, withCoverage: false }
    const first = await this.#laboratory.run(task, limit)
    // A worker may end by what it ran before. A new one decides.
    const outcome = typeof first === 'string' ? await this.#laboratory.run(task, limit) : first
    if (typeof outcome === 'string') return 'timeout'
    return outcome.failed === null ? 'survived' : 'killed'
  }
}

/** Changes with each test at the path and in the room of a file: survivors are examined anew. */
function textsNear(file: string): string {
  const near = nearestTests(file).slice(0, 2).flat()
  return digest(...near.map((test) => test + readFileSync(join(ROOT, test), 'utf8')))
}
