import ts from 'typescript'
import { type Change, type Mutator, replaced } from './mutator.ts'

const { SyntaxKind } = ts

/** A condition that always holds, and one that never holds. A loop that never ends is no mutant. */
export const condition: Mutator = (node) => {
  if (ts.isIfStatement(node)) return decided(node.expression)
  if (ts.isConditionalExpression(node)) return decided(node.condition)
  if (ts.isWhileStatement(node)) return [replaced(node.expression, 'false')]
  if (ts.isForStatement(node) && node.condition) return [replaced(node.condition, 'false')]
  return []
}

/** `&&` without one side is weaker than `true`, so `true` is left out there; `||` likewise. */
function decided(node: ts.Expression): Change[] {
  const operator = ts.isBinaryExpression(node) ? node.operatorToken.kind : undefined
  return [
    ...(operator === SyntaxKind.AmpersandAmpersandToken ? [] : [replaced(node, 'true')]),
    ...(operator === SyntaxKind.BarBarToken ? [] : [replaced(node, 'false')]),
  ]
}

/**
 * One check of several is missing. What notices that notices `||` in the place of `&&` too, so this
 * swap is no mutant of its own.
 */
export const check: Mutator = (node) => {
  if (!ts.isBinaryExpression(node)) return []
  const { left, right, operatorToken } = node
  const isCheck =
    operatorToken.kind === SyntaxKind.AmpersandAmpersandToken ||
    operatorToken.kind === SyntaxKind.BarBarToken
  if (!isCheck) return []
  const isChain = ts.isBinaryExpression(left) && left.operatorToken.kind === operatorToken.kind
  return [replaced(node, left.getText()), ...(isChain ? [] : [replaced(node, right.getText())])]
}

/** A value without its fallback, and the fallback without the value. */
export const fallback: Mutator = (node) => {
  if (!ts.isBinaryExpression(node)) return []
  const { left, right, operatorToken } = node
  if (operatorToken.kind === SyntaxKind.QuestionQuestionEqualsToken) {
    return [replaced(operatorToken, '=')]
  }
  if (operatorToken.kind !== SyntaxKind.QuestionQuestionToken) return []
  return [replaced(node, left.getText()), replaced(node, right.getText())]
}

const EQUALITY = new Map([
  [SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken, '==='],
])

const COMPARISON = new Map([
  [SyntaxKind.LessThanToken, ['<=', '>=']],
  [SyntaxKind.LessThanEqualsToken, ['<', '>']],
  [SyntaxKind.GreaterThanToken, ['>=', '<=']],
  [SyntaxKind.GreaterThanEqualsToken, ['>', '<']],
])

/** An equality that is negated. A whole condition is decided both ways already. */
export const equality: Mutator = (node) => {
  if (!ts.isBinaryExpression(node) || isDecided(node)) return []
  const other = EQUALITY.get(node.operatorToken.kind)
  return other === undefined ? [] : [replaced(node.operatorToken, other)]
}

/** A bound that is shifted by one, or negated. */
export const comparison: Mutator = (node) => {
  if (!ts.isBinaryExpression(node)) return []
  const others = COMPARISON.get(node.operatorToken.kind) ?? []
  return others
    .slice(0, isDecided(node) ? 1 : 2)
    .map((other) => replaced(node.operatorToken, other))
}

export const negation: Mutator = (node) =>
  ts.isPrefixUnaryExpression(node) &&
  node.operator === SyntaxKind.ExclamationToken &&
  !isDecided(node)
    ? [replaced(node, node.operand.getText())]
    : []

export const optionalChain: Mutator = (node) => {
  const isChain =
    ts.isPropertyAccessChain(node) || ts.isElementAccessChain(node) || ts.isCallChain(node)
  if (!isChain || node.questionDotToken === undefined) return []
  return [replaced(node.questionDotToken, ts.isPropertyAccessChain(node) ? '.' : '')]
}

/** Whether an expression is a whole condition, or one side of a check. */
function isDecided(node: ts.Expression): boolean {
  const { parent } = node
  return (
    (ts.isIfStatement(parent) && parent.expression === node) ||
    (ts.isConditionalExpression(parent) && parent.condition === node)
  )
}
