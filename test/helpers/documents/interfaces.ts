import { readFileSync } from 'node:fs'
import ts from 'typescript'

/** The members of an interface, or what is public of a class, each with its documented default. */
export function membersOf(file: string, name: string): Map<string, string | undefined> {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const members = source.statements
    .filter((node) => ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node))
    .filter((node) => node.name?.text === name)
    .flatMap((node): readonly (ts.TypeElement | ts.ClassElement)[] => [...node.members])
  const named = members.flatMap((member) =>
    member.name && ts.isIdentifier(member.name) ? [[member.name.text, member] as const] : [],
  )
  if (named.length === 0) throw new Error(`${file} has no ${name} with members`)
  return new Map(named.map(([key, member]) => [key, defaultOf(member)]))
}

function defaultOf(member: ts.Node): string | undefined {
  const tag = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === 'default')
  return ts.getTextOfJSDocComment(tag?.comment)?.trim()
}
