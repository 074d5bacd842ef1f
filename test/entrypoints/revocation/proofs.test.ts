import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proofTable } from '../../../lib/entrypoints/revocation/index.ts'
import { configError } from '../../helpers/app/config-error.ts'

/** As an application without types gives them. */
const make = (...options: unknown[]) => Reflect.apply(proofTable, undefined, options)

test('max may be left out, and reach its bounds', () => {
  for (const options of [[], [undefined], [{}], [{ max: 1 }], [{ max: 2 ** 53 - 1 }]]) {
    const isFirst = make(...options)
    assert.deepEqual([isFirst('k', new Date()), isFirst.size], [true, 1])
  }
})

test('max is a whole number from 1', () => {
  for (const max of [undefined, null, '5', Number.NaN, 0, -1, 1.5, 2 ** 53, [5], 5n]) {
    const expected = 'max: expected a whole number from 1, found'
    assert.throws(() => make({ max }), configError(expected, '(proofTable())'))
  }
})

test('what is no object of options, or another one, is refused', () => {
  for (const options of [null, 'x', 1, [], () => {}]) {
    assert.throws(() => make(options), configError('options: expected an object'))
  }
  assert.throws(() => make({ maxEntries: 1 }), configError('maxEntries: expected one of max'))
  assert.throws(() => make(Object.create({ max: 1 })), configError('options: expected a plain'))
})

test('each table is of its own', () => {
  const [one, other] = [proofTable({ max: 1 }), proofTable({ max: 1 })]
  const until = new Date(Date.now() + 1000)
  assert.deepEqual([one('k', until), other('k', until), one('k', until)], [true, true, false])
})

test('500 000 proofs are held where max is left out', () => {
  const isFirst = proofTable()
  const until = new Date(Date.now() + 600_000)
  for (let i = 0; i < 500_000; i++) isFirst(`${i}`, until)
  assert.equal(isFirst.size, 500_000)
  assert.throws(() => isFirst('one more', until), /full/)
})
