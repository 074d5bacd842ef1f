import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compiled, digest, ROOT } from './compiled.ts'
import { type Coverage, hasRun, partsRun } from './coverage.ts'
import type { Laboratory } from './laboratory.ts'
import type { Mutant } from './mutant.ts'
import { Notebook } from './notebook.ts'
import { filesOf, ROOMS } from './rooms.ts'

/** What a test file does where there is no mutant. */
export interface KnownTest {
  readonly test: string
  /** Whether it passes. One that is slower than a sampler can use does not. */
  readonly passes: boolean
  readonly work: number
  readonly coverage: Coverage
  /** By the path of each file that has mutants, the digest of its program then. */
  readonly programs: Readonly<Record<string, string>>
}

/** Milliseconds of work that a test may take to be of use. */
const LONGEST = 20_000

/** Runs each test file once without a mutant, when it is first asked for. */
export class KnownTests {
  readonly #notebook = new Notebook<KnownTest>('tests')
  readonly #known = new Map<string, KnownTest>()
  readonly #laboratory: Laboratory

  constructor(laboratory: Laboratory) {
    this.#laboratory = laboratory
  }

  /**
   * Those of the tests that run what a mutant changes. First comes the one that runs most of the
   * file for its work: each test that loads a file runs its constants.
   */
  async covering(mutant: Mutant, tests: readonly string[]): Promise<KnownTest[]> {
    const found: KnownTest[] = []
    for (const test of tests) {
      const known = await this.#find(test, mutant.file)
      if (known.passes && hasRun(known.coverage, mutant.file, mutant.start)) found.push(known)
    }
    const worth = ({ coverage, work }: KnownTest) => partsRun(coverage, mutant.file) / work
    return found.sort((a, b) => worth(b) - worth(a))
  }

  /** What a test does is found out anew where the file has changed since. */
  async #find(test: string, file: string): Promise<KnownTest> {
    const key = digest(test, readFileSync(join(ROOT, test), 'utf8'))
    const known = this.#known.get(test) ?? this.#notebook.read(key)
    const isCurrent = known !== undefined && known.programs[file] === programOf(file)
    const found = isCurrent ? known : await this.#run(test)
    this.#known.set(test, found)
    if (!isCurrent) this.#notebook.write(key, found)
    return found
  }

  async #run(test: string): Promise<KnownTest> {
    const task = { test, changed: null, withCoverage: true }
    const answer = await this.#laboratory.run(task, LONGEST)
    const paths = ROOMS.flatMap(filesOf)
    const programs = Object.fromEntries(paths.map((path) => [path, programOf(path)]))
    if (typeof answer === 'string' || answer.failed !== null || answer.coverage === null) {
      console.log(`left out: ${test}: ${typeof answer === 'string' ? answer : answer.failed}`)
      return { test, passes: false, work: 0, coverage: {}, programs }
    }
    return { test, passes: true, work: answer.work, coverage: answer.coverage, programs }
  }
}

const programs = new Map<string, string>()

function programOf(path: string): string {
  const known = programs.get(path)
  if (known !== undefined) return known
  const made = digest(compiled(path).text)
  programs.set(path, made)
  return made
}
