import assert from 'node:assert/strict'
import { after } from 'node:test'

const PROTOTYPES = [Object.prototype, Array.prototype, String.prototype, Function.prototype]

/** Holds, at the end of a test file, that nothing of it has left a trace on what every object inherits. */
export function expectUnspoiltPrototypes(): void {
  const before = PROTOTYPES.map(Reflect.ownKeys)
  after(() => assert.deepEqual(PROTOTYPES.map(Reflect.ownKeys), before))
}
