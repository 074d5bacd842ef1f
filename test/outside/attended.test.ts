import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ATTENDED, Attendance, attendantOf } from '../../lib/outside/attendance.ts'

const attendance = new Attendance({ end() {} })
const attended = Object.assign(() => {}, { [ATTENDED]: attendance })

test('the attendant of a function is its own', () => {
  assert.equal(attendantOf(attended), attendance)
})

const NONE: [what: string, value: unknown][] = [
  ['a function of the application', () => {}],
  ['a function that inherits from one', Object.setPrototypeOf(() => {}, attended)],
  ['an object that is no function', { [ATTENDED]: attendance }],
  ['null', null],
  ['nothing', undefined],
]

for (const [what, value] of NONE) {
  test(`there is no attendant of ${what}`, () => assert.equal(attendantOf(value), undefined))
}
