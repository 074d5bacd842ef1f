import ts from 'typescript'
import { type Mutator, replaced } from './mutator.ts'

const { SyntaxKind } = ts

const ARITHMETIC = new Map([
  [SyntaxKind.PlusToken, '-'],
  [SyntaxKind.MinusToken, '+'],
  [SyntaxKind.AsteriskToken, '/'],
  [SyntaxKind.SlashToken, '*'],
  [SyntaxKind.PercentToken, '*'],
  [SyntaxKind.AsteriskAsteriskToken, '*'],
  [SyntaxKind.PlusEqualsToken, '-='],
  [SyntaxKind.MinusEqualsToken, '+='],
  [SyntaxKind.AsteriskEqualsToken, '/='],
  [SyntaxKind.AmpersandToken, '|'],
  [SyntaxKind.BarToken, '&'],
  [SyntaxKind.LessThanLessThanToken, '>>'],
  [SyntaxKind.GreaterThanGreaterThanToken, '<<'],
])

export const arithmetic: Mutator = (node) => {
  if (ts.isPostfixUnaryExpression(node) || ts.isPrefixUnaryExpression(node)) return steps(node)
  if (!ts.isBinaryExpression(node) || isText(node.left) || isText(node.right)) return []
  if (isFigure(node)) return []
  const other = ARITHMETIC.get(node.operatorToken.kind)
  return other === undefined ? [] : [replaced(node.operatorToken, other)]
}

function steps(node: ts.PostfixUnaryExpression | ts.PrefixUnaryExpression) {
  const operand = node.operand.getText()
  switch (node.operator) {
    case SyntaxKind.PlusPlusToken:
      return [replaced(node, `${operand}--`)]
    case SyntaxKind.MinusMinusToken:
      return [replaced(node, `${operand}++`)]
    case SyntaxKind.MinusToken:
      return [replaced(node, operand)]
    default:
      return []
  }
}

function isText(node: ts.Node): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)
}

export const boolean: Mutator = (node) => {
  if (node.kind === SyntaxKind.TrueKeyword) return [replaced(node, 'false')]
  if (node.kind === SyntaxKind.FalseKeyword) return [replaced(node, 'true')]
  return []
}

/** A number and its neighbours. A figure such as `16 * 1024` is doubled and halved. */
export const number: Mutator = (node) => {
  if (!isFigure(node) || isFigure(node.parent) || isName(node)) return []
  if (ts.isBinaryExpression(node)) {
    return [replaced(node, `${node.getText()} * 2`), replaced(node, `${node.getText()} / 2`)]
  }
  const value = Number(node.getText().replaceAll('_', ''))
  return [replaced(node, String(value + 1)), replaced(node, String(value - 1))]
}

/** A number, or a product of numbers. */
function isFigure(node: ts.Node): boolean {
  if (!ts.isBinaryExpression(node)) return ts.isNumericLiteral(node)
  const isProduct = node.operatorToken.kind === SyntaxKind.AsteriskToken
  return isProduct && isFigure(node.left) && isFigure(node.right)
}

/** Texts of errors are for people: a table of tests holds the wire's texts, and logs are read. */
export const text: Mutator = (node) => {
  if (!isText(node) || isName(node) || isForPeople(node)) return []
  return [replaced(node, node.getText().length === 2 ? "'mutated'" : "''")]
}

/** The name of a property or of a module is no value. */
function isName(node: ts.Node): boolean {
  const { parent } = node
  return (
    ts.isImportDeclaration(parent) ||
    ts.isExportDeclaration(parent) ||
    (ts.isPropertyAssignment(parent) && parent.name === node) ||
    (ts.isMethodDeclaration(parent) && parent.name === node) ||
    ts.isTaggedTemplateExpression(parent)
  )
}

function isForPeople(node: ts.Node): boolean {
  for (let at = node.parent; at !== undefined && !ts.isBlock(at); at = at.parent) {
    if (ts.isThrowStatement(at) || ts.isNewExpression(at)) return true
    if (ts.isCallExpression(at) && /^(?:Symbol|.*\.explain)$/.test(at.expression.getText())) {
      return true
    }
    if (ts.isArrowFunction(at) || ts.isSourceFile(at)) return false
  }
  return false
}

export const list: Mutator = (node) =>
  ts.isArrayLiteralExpression(node) && node.elements.length > 0 ? [replaced(node, '[]')] : []

export const object: Mutator = (node) =>
  ts.isObjectLiteralExpression(node) && node.properties.length > 0 ? [replaced(node, '{}')] : []
