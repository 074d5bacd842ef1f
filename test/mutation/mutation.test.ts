import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findMutants } from './find-mutants.ts'
import { mixed } from './mixed.ts'
import { mutantsOf } from './mutant.ts'
import { nearestTests } from './nearest-tests.ts'
import { Report } from './report.ts'
import { type Survivor, staleSurvivors, survivorKey } from './survivor.ts'

/** Programs, and what their mutants put in the place of what. */
const PROGRAMS: readonly [program: string, mutants: readonly string[]][] = [
  ['if (a) b()', ['a > true', 'a > false', 'b() > ;']],
  ['x = a ? b : c', ['x = a ? b : c > ;', 'a > true', 'a > false']],
  ['while (a) b()', ['a > false', 'b() > ;']],
  ['if (a && b) {}', ['a && b > false', 'a && b > a', 'a && b > b']],
  ['if (a || b) {}', ['a || b > true', 'a || b > a', 'a || b > b']],
  [
    'if (a && b && c) {}',
    ['a && b && c > false', 'a && b && c > a && b', 'a && b > a', 'a && b > b'],
  ],
  ['const x = a === b', ['=== > !==']],
  ['if (a < b) {}', ['a < b > true', 'a < b > false', '< > <=']],
  ['const x = a < b', ['< > <=', '< > >=']],
  ['const x = !a', ['!a > a']],
  ['const x = a?.b?.[c]?.()', ['?. > .', '?. > ', '?. > ']],
  ['const x = a ?? b', ['a ?? b > a', 'a ?? b > b']],
  ['a ??= b', ['a ??= b > ;', '??= > =']],
  ['const x = a + b * -c', ['+ > -', '* > /', '-c > c']],
  ["const x = 'a' + b", ["'a' > ''"]],
  ['const x = true', ['true > false']],
  ['const x = 7', ['7 > 8', '7 > 6']],
  ['const x = 2 * 1_024', ['2 * 1_024 > 2 * 1_024 * 2', '2 * 1_024 > 2 * 1_024 / 2']],
  ["const x = ''", ["'' > 'mutated'"]],
  ['const x = `a`', ["`a` > ''"]],
  ['const x = [a]', ['[a] > []']],
  ['const x = { a }', ['{ a } > {}']],
  ['function f() { return a }', ['{ return a } > {}']],
  ['function f() { a(); b() }', ['{ a(); b() } > {}', 'a(); > ;', 'b() > ;']],
  ['try { a() } catch { b() }', ['{ a() } > {}', '{ b() } > {}']],
  ['const f = () => a', ['a > undefined']],
  ['const x = a.some(f)', ['some > every']],
  ["const x = a.startsWith('b')", ['startsWith > endsWith', "'b' > ''"]],
  ['const x = Math.min(a, b)', ['min > max']],
  ['const x = a.filter(f)', ['a.filter(f) > a']],
  ['const x = Object.freeze(a)', ['Object.freeze(a) > (a)']],
  ['const x = Object.hasOwn(a, b)', ['Object.hasOwn(a, b) > (b in a)']],
  ['const x = /^a+[^b^]\\d\\$$/', ['^ > ', '+ > ', '[^ > [', '\\d > \\D', '$ > ']],
  // What people read, names, and what is no program.
  ["throw new Error('a')", []],
  ["import a from 'b'", []],
  ["const x = Symbol('a')", []],
  ['const x = []', []],
]

for (const [program, mutants] of PROGRAMS) {
  test(`mutants of ${program}`, () => {
    const found = findMutants(program).map(({ before, text }) => `${before} > ${text}`)
    assert.deepEqual(found.sort(), [...mutants].sort())
  })
}

test('a mutant knows its line in the source, and is one of what runs', () => {
  const [first, ...others] = mutantsOf('lib/tokens/user-info.ts')
  assert.equal(first?.line, 'const MAX_DEPTH = 64')
  assert.equal(first?.change, '64 → 65')
  assert.match(first?.changed.program ?? '', /MAX_DEPTH = 65/)
  const line = "if (!isObject(claims)) throw new TokenRefused('the claims are no object')"
  assert.deepEqual(
    others.filter((mutant) => mutant.line === line).map(({ change }) => change),
    ['!isObject(claims) → true', '!isObject(claims) → false'],
  )
})

test('the tests of a file come first, then those of its room', () => {
  const [own, near = [], features = []] = nearestTests('lib/tokens/verify-token.ts')
  assert.deepEqual(own, [
    'test/tokens/verify-token-forged.test.ts',
    'test/tokens/verify-token-key.test.ts',
    'test/tokens/verify-token.test.ts',
  ])
  assert.equal(near.includes('test/tokens/user-info.test.ts'), true)
  assert.equal(features.includes('test/behaviour/rights.test.ts'), true)
})

const WRITTEN: Survivor = {
  file: 'lib/a.ts',
  mutator: 'number',
  line: 'const A = 64',
  change: '64 → 65',
  kind: 'equivalent',
  why: 'as an example',
}

test('a survivor that is written down is told when its line has changed, not when it has moved', () => {
  const written = new Map([[survivorKey(WRITTEN), WRITTEN]])
  assert.deepEqual(staleSurvivors(written, [WRITTEN]), [])
  const changed = { ...WRITTEN, line: 'const A = 32', change: '32 → 33' }
  assert.deepEqual(staleSurvivors(written, [changed]), [survivorKey(WRITTEN)])
})

test('equivalent mutants count for nothing, gaps count as survivors', () => {
  const { mutator, line, change } = WRITTEN
  const mutant = { file: 'lib/a.ts', mutator, line, change, lineNumber: 1, start: 0, id: '' }
  const changed = { path: 'lib/a.ts', program: '' }
  const verdict = { tests: [], seconds: 0, mutant: { ...mutant, changed } }
  const survived = { ...verdict, result: 'survived' } as const
  const others = ['killed', 'timeout', 'killed'] as const
  const killed = others.map((result) => {
    return { ...verdict, result, mutant: { ...verdict.mutant, line: 'another' } }
  })
  for (const [kind, score] of [
    ['equivalent', 100],
    ['gap', 75],
  ] as const) {
    const report = new Report(
      [survived, ...killed],
      new Map([[survivorKey(WRITTEN), { ...WRITTEN, kind }]]),
    )
    assert.deepEqual([report.score, report.unknown], [score, []])
  }
  assert.equal(new Report([survived, ...killed], new Map()).unknown.length, 1)
})

test('a sample holds as much of each group as the whole, by its seed', () => {
  const groupOf = (name: string, length: number) =>
    Array.from({ length }, (_, index) => ({ id: `${name}${index}` }))
  const groups = [groupOf('a', 100), groupOf('b', 10)]
  const sample = mixed(groups, 'seed').slice(0, 22)
  assert.equal(sample.filter(({ id }) => id.startsWith('b')).length, 2)
  assert.deepEqual(mixed(groups, 'seed').slice(0, 22), sample)
  assert.notDeepEqual(mixed(groups, 'another').slice(0, 22), sample)
})
