import assert from 'node:assert/strict'
import { after } from 'node:test'

const PROTOTYPES = [Object.prototype, Array.prototype, String.prototype, Function.prototype]

/**
 * Checks, at the end of a test file, that the file has changed nothing of what every object
 * inherits.
 */
export function expectUnspoiltPrototypes(): void {
  const before = PROTOTYPES.map(Reflect.ownKeys)
  after(() => assert.deepEqual(PROTOTYPES.map(Reflect.ownKeys), before))
}
