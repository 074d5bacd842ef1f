import assert from 'node:assert/strict'
import { test } from 'node:test'
import { examineClock } from '../../../../lib/entrypoints/cli/doctor/examine-issuer.ts'
import { Exchange } from '../../../../lib/entrypoints/cli/doctor/fetch-advice.ts'

const NOW = 1_800_000_000_000

/** Seconds from now that the server says, how old it calls its answer, and the level. */
const CLOCKS: readonly [date: number | null, age: string | null, levels: string[]][] = [
  [0, null, ['ok']],
  [5, null, ['ok']],
  [6, null, ['wrong']],
  [-6, null, ['ok']],
  [-7, null, ['warning']],
  [-300, '300', ['ok']],
  [null, null, []],
  [0, 'x', []],
]

for (const [date, age, levels] of CLOCKS) {
  test(`Date ${date}, Age ${age}: ${levels}`, (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: NOW })
    const exchange = new Exchange(1, 1)
    const headers = new Headers()
    if (date !== null) headers.set('date', new Date(NOW + date * 1000).toUTCString())
    if (age !== null) headers.set('age', age)
    exchange.limits.onAnswer?.({ status: 200, headers })
    const found = examineClock('a', exchange, 5)
    const shown = found.map(({ level }) => level)
    assert.deepEqual(shown, levels)
  })
}

test('without an answer nothing is known', () => {
  assert.deepEqual(examineClock('a', new Exchange(1, 1), 5), [])
})

test('an answer that came late may have been made at any time meanwhile', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: NOW })
  const exchange = new Exchange(1, 60)
  t.mock.timers.setTime(NOW + 30_000)
  const headers = new Headers({ date: new Date(NOW).toUTCString() })
  exchange.limits.onAnswer?.({ status: 200, headers })
  assert.equal(examineClock('a', exchange, 5)[0]?.level, 'ok')
})
