import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

/** The rooms of lib/, from the top floor down. Imports go down only. */
const ROOMS = [
  [
    'index',
    'plugin',
    'resource-metadata',
    'service',
    'boot-report',
    'compose',
    'compose-issuers',
    'compose-attendants',
    'installations',
    'operator-log',
    'testing',
    'claims',
    'introspection',
    'revocation',
    'cli',
  ],
  ['commands'],
  ['doctor'],
  ['tools'],
  ['recipes'],
  ['opaque'],
  ['deny-stores'],
  ['deny-list'],
  ['inspection'],
  ['guard'],
  ['openapi'],
  ['declaration'],
  ['settings'],
  ['authentication'],
  ['rights'],
  ['tenants'],
  ['tokens'],
  ['keys'],
  ['outside'],
  ['errors', 'unavailable', 'auth-error'],
]

const files = readdirSync('lib', { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.ts'))

/** The floor of a file's room. The order of the doors in the first room counts too. */
function floorOf(file: string): number {
  const room = file.includes('/') ? dirname(file) : basename(file, '.ts')
  const floor = ROOMS.findIndex((names) => names.includes(room))
  assert.notEqual(floor, -1, `${file} stands on no floor`)
  return floor + (ROOMS[floor]?.indexOf(room) ?? 0) / 100
}

/** The files that a file imports. */
function importsOf(file: string): string[] {
  const text = readFileSync(join('lib', file), 'utf8')
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, specifier = '']) =>
    normalize(join(dirname(file), specifier)),
  )
}

test('imports go down: no file knows a room above its own', () => {
  const upward = files.flatMap((file) =>
    importsOf(file)
      .filter((to) => dirname(to) !== dirname(file) || dirname(file) === '.')
      .filter((to) => floorOf(to) <= floorOf(file))
      .map((to) => `${file} knows ${to}`),
  )
  assert.deepEqual(upward, [])
})

test('no file of lib/ knows itself by way of others', () => {
  const reach = (file: string, seen: Set<string>): Set<string> => {
    for (const to of importsOf(file)) if (!seen.has(to)) reach(to, seen.add(to))
    return seen
  }
  assert.deepEqual(
    files.filter((file) => reach(file, new Set()).has(file)),
    [],
  )
})
