import type { Coverage } from './coverage.ts'
import type { Changed } from './module-graph.ts'

/** What a worker is asked. */
export interface Task {
  /** Path of the test file. */
  readonly test: string
  /** The file with a mutant; null: all is as it is. */
  readonly changed: Changed | null
  readonly withCoverage: boolean
}

export interface Answer {
  /** Name of the first test that has failed; null: all have passed. */
  readonly failed: string | null
  readonly coverage: Coverage | null
  /** Milliseconds that a processor has worked. */
  readonly work: number
  /** Bytes that the worker holds. */
  readonly held: number
}
