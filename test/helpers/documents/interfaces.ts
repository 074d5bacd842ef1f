import { readFileSync } from 'node:fs'
import ts from 'typescript'

/** A member's documented default, and whether it may be left out. */
export interface Member {
  readonly fallback: string | undefined
  readonly isOptional: boolean
}

/** The members of an interface or of an object's type, or what is public of a class. */
export function membersOf(file: string, name: string): Map<string, Member> {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const members = source.statements
    .filter((node) => isNamed(node, name))
    .flatMap((node): readonly (ts.TypeElement | ts.ClassElement)[] =>
      ts.isTypeAliasDeclaration(node) ? literalMembers(node.type) : [...node.members],
    )
  const named = members.flatMap((member) =>
    member.name && ts.isIdentifier(member.name) ? [[member.name.text, member] as const] : [],
  )
  if (named.length === 0) throw new Error(`${file} has no ${name} with members`)
  return new Map(
    named.map(([key, member]) => {
      const isOptional = 'questionToken' in member && member.questionToken !== undefined
      return [key, { fallback: defaultOf(member), isOptional }]
    }),
  )
}

type Declared = ts.InterfaceDeclaration | ts.ClassDeclaration | ts.TypeAliasDeclaration

function isNamed(node: ts.Statement, name: string): node is Declared {
  const isDeclared =
    ts.isInterfaceDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isTypeAliasDeclaration(node)
  return isDeclared && node.name?.text === name
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
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest)
  return source.statements
    .filter(ts.isExportDeclaration)
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
