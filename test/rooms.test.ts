import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

/** The rooms of lib/, from the top floor down. `.` is the first level itself. */
const FLOORS = [
  'entrypoints/cli',
  'entrypoints/testing',
  'entrypoints/revocation',
  'entrypoints/introspection',
  'entrypoints/claims',
  'entrypoints/certificates',
  '.',
  'guard',
  'openapi',
  'routes',
  'config',
  'identity/authentication',
  'identity/proofs',
  'identity/authorization',
  'identity/tenants',
  'identity/jwt',
  'identity/jwks',
  'platform/callbacks',
  'platform/http',
  'platform/runtime',
  'errors.ts',
  'auth-error.ts',
]

const files = readdirSync('lib', { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.ts'))

function floorOf(file: string): number {
  const floors = [file, dirname(file), dirname(dirname(file))].map((room) => FLOORS.indexOf(room))
  return floors.find((floor) => floor !== -1) ?? -1
}

function importsOf(file: string): string[] {
  const text = readFileSync(join('lib', file), 'utf8')
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, specifier = '']) =>
    normalize(join(dirname(file), specifier)),
  )
}

test('imports go down, nothing imports from an entry point, and no file imports itself by way of others', () => {
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter((to) => {
        const isEntry = to.startsWith('entrypoints/')
        const isOwn = dirname(to).split('/')[1] === dirname(file).split('/')[1]
        const mayEnter = isOwn || (file.startsWith('entrypoints/cli/') && to.includes('/testing/'))
        return floorOf(to) < floorOf(file) || floorOf(file) === -1 || (isEntry && !mayEnter)
      })
      .map((to) => `${file} imports ${to}`),
  )
  assert.deepEqual(wrong, [])
  const reach = (file: string, seen: Set<string>): Set<string> => {
    for (const to of importsOf(file)) if (!seen.has(to)) reach(to, seen.add(to))
    return seen
  }
  const found = files.filter((file) => reach(file, new Set()).has(file))
  assert.deepEqual(found, [])
})
