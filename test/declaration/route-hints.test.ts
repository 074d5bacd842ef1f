import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hintsOf, noteHints, type RouteHints } from '../../lib/declaration/route-hints.ts'

const params = { type: 'object', properties: { id: { type: 'integer' } } }
const NONE: RouteHints = { params: undefined, isWebSocket: false }

/** Options of a route, and the hints that they give. */
const HINTS: readonly [what: string, options: object, hints: RouteHints][] = [
  ['no schema', {}, NONE],
  ['a schema of its body', { schema: { body: params } }, NONE],
  ['a schema of its parameters', { schema: { params } }, { params, isWebSocket: false }],
  ['websocket: true', { websocket: true }, { params: undefined, isWebSocket: true }],
  ['websocket: false', { websocket: false }, NONE],
  ['a wsHandler', { wsHandler() {} }, { params: undefined, isWebSocket: true }],
  ['both', { websocket: true, schema: { params } }, { params, isWebSocket: true }],
]

for (const [what, options, hints] of HINTS) {
  test(`a route with ${what} gives ${hints === NONE ? 'no hint' : 'hints'}`, () => {
    const route = {}
    noteHints(route, options)
    assert.deepEqual(hintsOf(route), hints)
  })
}

test('a route that is not compiled yet has no hints', () => {
  assert.deepEqual(hintsOf({}), NONE)
})
