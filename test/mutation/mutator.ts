import type ts from 'typescript'

/** A part of a program, and what stands there instead. */
export interface Change {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Makes changes of one kind of a node, each of which a test should notice. */
export type Mutator = (node: ts.Node) => readonly Change[]

/** A change that puts a text in the place of a node. */
export function replaced(node: ts.Node, text: string): Change {
  return { start: node.getStart(), end: node.getEnd(), text }
}
