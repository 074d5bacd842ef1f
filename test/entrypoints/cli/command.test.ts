import assert from 'node:assert/strict'
import { test } from 'node:test'
import { painter } from '../../../lib/entrypoints/cli/command.ts'

const TERMINAL = { isTTY: true, write: () => {} }
const PIPE = { write: () => {} }

/** Where is printed, with which environment, and whether in colour. */
const CASES = [
  ['a terminal', TERMINAL, {}, true],
  ['a terminal', TERMINAL, { NO_COLOR: '1' }, false],
  ['a terminal', TERMINAL, { NO_COLOR: '' }, true],
  ['a terminal', TERMINAL, { TERM: 'dumb' }, false],
  ['a terminal', TERMINAL, { FORCE_COLOR: '0' }, false],
  ['a terminal', TERMINAL, { FORCE_COLOR: 'false' }, false],
  ['a terminal', TERMINAL, { FORCE_COLOR: '' }, true],
  ['a pipe', PIPE, {}, false],
  ['a pipe', PIPE, { FORCE_COLOR: '1' }, true],
  ['a pipe', PIPE, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
] as const

for (const [what, stream, env, isColoured] of CASES) {
  test(`${what} with ${JSON.stringify(env)} has ${isColoured ? '' : 'no '}colours`, () => {
    const expected = isColoured ? '\u001b[31mopens\u001b[39m' : 'opens'
    assert.equal(painter(stream, env)('red', 'opens'), expected)
  })
}
