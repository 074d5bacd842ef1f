import ts from 'typescript'
import { type Mutator, replaced } from './mutator.ts'

/** A statement that is not run. Where it is the only one, its block is emptied instead. */
export const statement: Mutator = (node) => {
  if (!ts.isExpressionStatement(node) || isAlone(node)) return []
  if (ts.isCallExpression(node.expression) && node.expression.expression.getText() === 'super') {
    return []
  }
  return [replaced(node, ';')]
}

function isAlone({ parent }: ts.Node): boolean {
  return ts.isBlock(parent) && parent.statements.length === 1 && isEmptied(parent)
}

/** A function, a loop or the end of a `try` that does nothing. */
export const block: Mutator = (node) =>
  ts.isBlock(node) && node.statements.length > 0 && isEmptied(node) ? [replaced(node, '{}')] : []

/** The block of an `if` is not run where its condition never holds, so it is left out here. */
function isEmptied({ parent, statements }: ts.Block): boolean {
  if (ts.isConstructorDeclaration(parent)) return !statements.some(isSuper)
  if (ts.isTryStatement(parent)) return true
  return (
    ts.isFunctionLike(parent) || ts.isCatchClause(parent) || ts.isIterationStatement(parent, false)
  )
}

function isSuper(node: ts.Statement): boolean {
  return node.getText().startsWith('super(')
}

/** A function of one expression that gives nothing. */
export const result: Mutator = (node) =>
  ts.isArrowFunction(node) && !ts.isBlock(node.body) && !ts.isLiteralExpression(node.body)
    ? [replaced(node.body, 'undefined')]
    : []
