import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UserInfo } from '../../lib/tokens/user-info.ts'
import { acceptClaims } from '../../lib/tokens/verify-token.ts'

/** What a JavaScript application may give for a user. */
const mapping = (given: () => unknown) => (): UserInfo => Object(given())

const accept = (given: () => unknown) =>
  acceptClaims({ sub: 'alice' }, { clockTolerance: 5, mapClaims: mapping(given) })

const FAILING: [how: string, given: () => unknown][] = [
  ['throws', () => assert.fail('on purpose')],
  ['gives what is no JSON', () => ({ sub: 'alice', n: 1n })],
]

for (const [how, given] of FAILING) {
  test(`the log says that mapClaims failed where it ${how}`, () => {
    assert.throws(() => accept(given), { reason: 'mapClaims failed' })
  })
}

test('a promise of mapClaims that is broken does not reach the process', async (t) => {
  const unhandled = t.mock.fn()
  process.on('unhandledRejection', unhandled)
  t.after(() => process.off('unhandledRejection', unhandled))
  assert.throws(() => accept(async () => assert.fail('on purpose')))
  for (let round = 0; round < 3; round++) await new Promise(setImmediate)
  assert.equal(unhandled.mock.callCount(), 0)
})
