import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from './compiled.ts'
import { ROOMS } from './rooms.ts'

/** Folders of tests that need neither a build nor a process of their own. */
const FOLDERS: readonly string[] = [...ROOMS, '.', 'behaviour']

/** They read sources and documents, or start processes. */
const LEFT_OUT =
  /^(?:rooms|words|readme|package|workflows|api-reference|cli|release-notes|security)/

const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) => FOLDERS.includes(dirname(name)) && !LEFT_OUT.test(name))
  .sort()

/**
 * The tests that should notice a mutant of a file of `lib/`: those at its own path, those of its
 * room, and those of features.
 */
export function nearestTests(file: string): readonly string[][] {
  const path = file.replace(/^lib\//, '').replace(/\.ts$/, '')
  const own = tests.filter((test) => test.startsWith(`${path}.`) || test.startsWith(`${path}-`))
  const near = tests.filter((test) => dirname(test) === dirname(path) && !own.includes(test))
  const features = tests.filter((test) => !ROOMS.some((room) => room === dirname(test)))
  return [own, near, features].map((group) => group.map((name) => `test/${name}`))
}
