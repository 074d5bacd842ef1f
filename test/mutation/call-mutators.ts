import ts from 'typescript'
import { type Mutator, replaced } from './mutator.ts'

/** Methods, and others that take the same. */
const SWAPS = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['min', 'max'],
  ['max', 'min'],
  ['indexOf', 'lastIndexOf'],
  ['lastIndexOf', 'indexOf'],
  ['toLowerCase', 'toUpperCase'],
  ['floor', 'ceil'],
  ['ceil', 'floor'],
])

/** Methods whose result is of the kind of what they are called on. */
const DROPPED = new Set(['filter', 'trim', 'toSorted', 'sort', 'reverse', 'slice', 'normalize'])

/** Functions whose result is of the kind of their argument. */
const PASSED = new Set(['Object.freeze', 'structuredClone', 'Math.floor', 'Math.round'])

export const method: Mutator = (node) => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return []
  const { name, expression } = node.expression
  if (DROPPED.has(name.text)) return [replaced(node, expression.getText())]
  const other = SWAPS.get(name.text)
  return other === undefined ? [] : [replaced(name, other)]
}

/** What is not frozen, copied or rounded. */
export const passed: Mutator = (node) => {
  if (!ts.isCallExpression(node) || !PASSED.has(node.expression.getText())) return []
  const [argument] = node.arguments
  return argument === undefined || ts.isExpressionStatement(node.parent)
    ? []
    : [replaced(node, `(${argument.getText()})`)]
}

/** Inherited properties, where own ones count. */
export const inherited: Mutator = (node) => {
  if (!ts.isCallExpression(node) || node.expression.getText() !== 'Object.hasOwn') return []
  const [holder, name] = node.arguments
  if (holder === undefined || name === undefined) return []
  return [replaced(node, `(${name.getText()} in ${holder.getText()})`)]
}
