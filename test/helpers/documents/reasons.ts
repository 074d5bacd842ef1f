import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** What is put into a text at run time. */
export const PUT_IN = '…'

/** Texts by the name of a parameter. */
type Known = ReadonlyMap<string, readonly string[]>

/** A call whose argument becomes a text of the log. */
interface Sink {
  readonly name: string
  /** The one file that has the function; undefined: it is exported. */
  readonly file: string | undefined
  readonly parameters: readonly string[]
  readonly text: ts.Expression
}

/**
 * The texts that sources hand to some functions and classes, without running them: literals,
 * templates, constants, what a function returns, and what callers hand on.
 */
export class SourceTexts {
  readonly #files: readonly ts.SourceFile[]
  readonly #constants = new Map<string, ts.Expression>()
  readonly #functions = new Map<string, ts.FunctionLikeDeclaration>()
  /** Functions whose returns are being read: they may call themselves. */
  readonly #entered = new Set<ts.FunctionLikeDeclaration>()

  constructor(folder: string, isRead: (file: string) => boolean = () => true) {
    this.#files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && isRead(name))
      .map((name) => {
        const text = readFileSync(join(folder, name), 'utf8')
        return ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)
      })
    for (const node of this.#nodes()) {
      if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer) {
        if (ts.isSourceFile(node.parent.parent.parent)) {
          this.#constants.set(node.name.text, node.initializer)
        }
      } else if (isNamed(node)) this.#functions.set(node.name.getText(), node)
    }
  }

  /** What is handed to whatever has such a name, in files with such a name. */
  of(called: RegExp, within = /./): string[] {
    const found = new Set<string>()
    const sinks: Sink[] = []
    const collect = (callee: string, values: readonly ts.Expression[], sink?: Sink): void => {
      // Behind the reason of an error stands what the response says.
      const args = sink === undefined ? values.slice(0, 2) : [sink.text]
      const known = new Map(
        sink?.parameters.map((name, index) => [name, this.#texts(values[index])] as const),
      )
      for (const arg of args) {
        const outer = sink === undefined ? handedOn(arg) : undefined
        if (outer !== undefined && !called.test(outer.name) && outer.name !== callee) {
          sinks.push(outer)
        } else if (isText(arg)) for (const text of this.#texts(arg, known)) found.add(text)
      }
    }
    for (const [callee, args, file] of this.#calls()) {
      if (called.test(callee) && within.test(file)) collect(callee, args)
    }
    for (const [callee, args, file] of this.#calls()) {
      for (const sink of sinks) {
        if (sink.name === callee && (sink.file ?? file) === file) collect(callee, args, sink)
      }
    }
    return [...found].filter((text) => /\w/.test(text))
  }

  *#calls(): Generator<[string, readonly ts.Expression[], string]> {
    for (const node of this.#nodes()) {
      if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) continue
      const { fileName } = node.getSourceFile()
      yield [lastName(node.expression), node.arguments ?? [], fileName]
    }
  }

  #texts(given: ts.Expression | undefined, known: Known = new Map()): readonly string[] {
    if (given === undefined) return []
    const each = (node: ts.Expression) => this.#texts(node, known)
    if (ts.isStringLiteralLike(given)) return [given.text]
    if (ts.isParenthesizedExpression(given)) return each(given.expression)
    if (ts.isConditionalExpression(given))
      return [...each(given.whenTrue), ...each(given.whenFalse)]
    if (ts.isTemplateExpression(given)) {
      return given.templateSpans.reduce<readonly string[]>(
        (heads, { expression, literal }) =>
          heads.flatMap((head) => each(expression).map((text) => head + text + literal.text)),
        [given.head.text],
      )
    }
    if (ts.isIdentifier(given)) {
      if (given.text === 'undefined') return []
      const texts = known.get(given.text)
      if (texts !== undefined) return texts
      const value = localOf(given) ?? this.#constants.get(given.text)
      return value === undefined ? [PUT_IN] : this.#texts(value)
    }
    if (ts.isCallExpression(given)) return this.#returned(given, known)
    return [PUT_IN]
  }

  #returned(call: ts.CallExpression, known: Known): readonly string[] {
    const called = this.#functions.get(lastName(call.expression))
    if (called?.body === undefined || this.#entered.has(called)) return [PUT_IN]
    this.#entered.add(called)
    const names = called.parameters.map(({ name }) => name.getText())
    const inner = new Map(
      names.map((name, index) => [name, this.#texts(call.arguments[index], known)] as const),
    )
    const returns = [...below(called.body)].filter(ts.isReturnStatement)
    const texts = returns.flatMap(({ expression }) => this.#texts(expression, inner))
    this.#entered.delete(called)
    return texts
  }

  *#nodes(): Generator<ts.Node> {
    for (const file of this.#files) yield* below(file)
  }
}

function* below(node: ts.Node): Generator<ts.Node> {
  const nodes = [node]
  for (let next = nodes.pop(); next !== undefined; next = nodes.pop()) {
    yield next
    const children: ts.Node[] = []
    ts.forEachChild(next, (child) => void children.push(child))
    nodes.push(...children.reverse())
  }
}

function isNamed(
  node: ts.Node,
): node is ts.FunctionLikeDeclaration & { name: ts.Identifier | ts.PrivateIdentifier } {
  return (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) && node.name !== undefined
}

/** The function around an expression whose parameter stands in it. */
function handedOn(text: ts.Expression): Sink | undefined {
  const used = [...below(text)].filter(ts.isIdentifier).map((node) => node.text)
  for (let node: ts.Node = text; node.parent !== undefined; node = node.parent) {
    if (!ts.isFunctionLike(node)) continue
    const parameters = node.parameters.map(({ name }) => name.getText())
    if (!parameters.some((name) => used.includes(name))) continue
    if (!isNamed(node)) return undefined
    const isExported = ts.isFunctionDeclaration(node) && node.modifiers !== undefined
    const file = isExported ? undefined : node.getSourceFile().fileName
    return { name: node.name.getText(), file, parameters, text }
  }
  return undefined
}

/** The value of a constant of the function around an expression. */
function localOf(name: ts.Identifier): ts.Expression | undefined {
  for (let node: ts.Node = name; node.parent !== undefined; node = node.parent) {
    if (!ts.isBlock(node)) continue
    for (const { declarationList } of node.statements.filter(ts.isVariableStatement)) {
      const found = declarationList.declarations.find((each) => each.name.getText() === name.text)
      if (found !== undefined) return found.initializer
    }
  }
  return undefined
}

function lastName(callee: ts.Expression): string {
  return ts.isPropertyAccessExpression(callee) ? callee.name.text : callee.getText()
}

/** Not a number of seconds, a list of ids or a function. */
function isText(node: ts.Expression): boolean {
  return !ts.isNumericLiteral(node) && !ts.isArrowFunction(node)
}
