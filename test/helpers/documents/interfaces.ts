import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/** A member's documented default, and whether it may be left out. */
export interface Member {
  readonly fallback: string | undefined
  readonly isOptional: boolean
}

/** The members of an interface or of an object's type of lib/, or what is public of a class. */
export function membersOf(name: string): Map<string, Member> {
  const members = declared()
    .filter((node) => node.name?.text === name)
    .flatMap((node): readonly (ts.TypeElement | ts.ClassElement)[] =>
      ts.isTypeAliasDeclaration(node) ? literalMembers(node.type) : [...node.members],
    )
  const named = members.flatMap((member) =>
    member.name && ts.isIdentifier(member.name) ? [[member.name.text, member] as const] : [],
  )
  if (named.length === 0) throw new Error(`lib/ has no ${name} with members`)
  return new Map(
    named.map(([key, member]) => {
      const isOptional = 'questionToken' in member && member.questionToken !== undefined
      return [key, { fallback: defaultOf(member), isOptional }]
    }),
  )
}

type Declared = ts.InterfaceDeclaration | ts.ClassDeclaration | ts.TypeAliasDeclaration

let all: readonly Declared[] | undefined

/** Those of lib/, read once. */
function declared(): readonly Declared[] {
  all ??= readdirSync('lib', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [...sourceOf(`lib/${name}`).statements])
    .filter(isDeclared)
  return all
}

function sourceOf(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
}

function isDeclared(node: ts.Statement): node is Declared {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isTypeAliasDeclaration(node)
  )
}

/** Those that are written in the type itself, but for those that must not be given. */
function literalMembers(type: ts.TypeNode): readonly ts.TypeElement[] {
  if (ts.isIntersectionTypeNode(type)) return type.types.flatMap(literalMembers)
  if (!ts.isTypeLiteralNode(type)) return []
  return type.members.filter(
    (member) =>
      !(ts.isPropertySignature(member) && member.type?.kind === ts.SyntaxKind.NeverKeyword),
  )
}

/** The names of the types that a file exports from others. */
export function exportedTypes(file: string): string[] {
  return sourceOf(file)
    .statements.filter(ts.isExportDeclaration)
    .flatMap((node) =>
      node.exportClause && ts.isNamedExports(node.exportClause)
        ? node.exportClause.elements
            .filter(({ isTypeOnly }) => isTypeOnly || node.isTypeOnly)
            .map(({ name }) => name.text)
        : [],
    )
}

function defaultOf(member: ts.Node): string | undefined {
  const tag = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === 'default')
  return ts.getTextOfJSDocComment(tag?.comment)?.trim()
}
