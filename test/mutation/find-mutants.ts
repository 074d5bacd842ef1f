import ts from 'typescript'
import * as calls from './call-mutators.ts'
import * as conditions from './condition-mutators.ts'
import type { Change } from './mutator.ts'
import * as patterns from './pattern-mutators.ts'
import * as statements from './statement-mutators.ts'
import * as values from './value-mutators.ts'

/** A change of a program that its tests should notice. */
export interface FoundMutant extends Change {
  /** The kind of the change. */
  readonly mutator: string
  /** The part that is changed. */
  readonly before: string
}

const MUTATORS = Object.entries({ ...conditions, ...values, ...statements, ...calls, ...patterns })

/** Every mutant of a JavaScript program, in the order of its text. */
export function findMutants(program: string): FoundMutant[] {
  const source = ts.createSourceFile('x.js', program, ts.ScriptTarget.ESNext, true)
  const found = new Map<string, FoundMutant>()
  visit(source)
  return [...found.values()].sort((a, b) => a.start - b.start)

  function visit(node: ts.Node): void {
    for (const [mutator, mutate] of MUTATORS) {
      for (const change of mutate(node)) {
        const { start, end, text } = change
        const before = program.slice(start, end)
        const key = `${start} ${end} ${text}`
        if (!found.has(key) && before !== text) found.set(key, { ...change, mutator, before })
      }
    }
    ts.forEachChild(node, visit)
  }
}
