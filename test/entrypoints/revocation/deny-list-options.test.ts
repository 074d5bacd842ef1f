import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RULES } from '../../../lib/entrypoints/revocation/deny-list-options.ts'
import { denyList } from '../../../lib/entrypoints/revocation/index.ts'
import { configError } from '../../helpers/app/config-error.ts'

/** As an application without types gives them. */
const make = (...options: unknown[]) => Reflect.apply(denyList, undefined, options)

const refuses = (options: unknown, ...parts: (string | RegExp)[]) =>
  assert.throws(() => make(options), configError(...parts))

const changes = () => ({ entries: [], cursor: 0 })

const GOOD: object[] = [
  {},
  { interval: 0.1, maxStale: 0.2 },
  { interval: 2_147_482, maxStale: 2_147_483, maxLifetime: 2_147_483, maxEntries: 2 ** 53 - 1 },
  { maxLifetime: 1, maxEntries: 1, whenStale: 'admit' },
  { whenStale: 'refuse', changes },
  { changes, append: () => {} },
]

test('each option may be left out, and reach its bounds', () => {
  assert.equal(typeof make(), 'function')
  for (const options of GOOD) assert.equal(typeof make(options), 'function')
})

test('the defaults are those that the reference has', () => {
  const { interval, maxStale, whenStale, maxLifetime, maxEntries, maxBytes } = RULES
  assert.deepEqual(
    [interval, maxStale, whenStale, maxLifetime, maxEntries, maxBytes].map((rule) => rule.default),
    [1, 60, 'refuse', 86_400, 100_000, 67_108_864],
  )
})

const NO_NUMBERS = [undefined, null, '5', Number.NaN, Number.POSITIVE_INFINITY, -1, 0, [5]]

const BAD: [name: string, expected: string, values: unknown[]][] = [
  ['interval', 'seconds from 0.1 to 2147483', [...NO_NUMBERS, 0.09, 2_147_484]],
  ['maxStale', 'seconds from 0.1 to 2147483', [...NO_NUMBERS, 2_147_484]],
  ['maxLifetime', 'seconds from 1 to 2147483', [...NO_NUMBERS, 0.9, 2_147_484]],
  ['maxEntries', 'a whole number from 1', [...NO_NUMBERS, 1.5, 2 ** 53]],
  ['maxBytes', 'a whole number from 1', [...NO_NUMBERS, 1.5, 2 ** 53]],
  ['whenStale', "'refuse' or 'admit'", [undefined, null, true, 'Admit', ['admit']]],
  ['changes', 'a function', [undefined, null, {}, 'x']],
  ['append', 'a function', [undefined, null, {}, 'x']],
]

for (const [name, expected, values] of BAD) {
  test(`${name} is ${expected}`, () => {
    for (const value of values) {
      refuses({ changes, [name]: value }, `${name}: expected ${expected}, found`, '(denyList())')
    }
  })
}

test('maxStale is more than interval', () => {
  for (const options of [{ interval: 60 }, { maxStale: 1 }, { interval: 9, maxStale: 8 }]) {
    const { maxStale = 60 }: { maxStale?: number } = options
    refuses(options, `maxStale: expected more than interval, found ${maxStale}`)
  }
})

test('append without changes is refused, because no process would read what it keeps', () => {
  refuses({ append: () => {} }, 'append: expected changes beside it, found append alone')
})

test('what is no object is refused, so that it does not mean the list of one process', () => {
  for (const options of [null, 'x', 1, [], () => {}])
    refuses(options, 'options: expected an object')
})

test('a misspelt or inherited member is refused rather than left out', () => {
  refuses({ maxstale: 9 }, 'maxstale: expected maxStale, found', 'did you mean maxStale?')
  refuses(Object.create({ maxStale: 9 }), 'options: expected a plain object')
})

test('all problems are named at once', () => {
  refuses({ interval: 0, maxEntries: 0 }, /^interval/, /\nmaxEntries/)
})
