import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { withoutRedis } from '../helpers/servers/redis-server.ts'
import { type SoakOptions, soak } from '../soak/soak.ts'
import { shownWrong } from '../soak/tally.ts'

/** A short soak, in which as much happens as in a longer one. */
const SHORT: SoakOptions = {
  seconds: 15,
  seed: 20,
  rate: 150,
  pace: 0.3,
  lib: resolve('lib'),
  processes: ['claims', 'application'],
}

test('the whole package gives no wrong verdict', { skip: withoutRedis }, async () => {
  const { tally, troubles } = await soak(SHORT)
  const found = tally.wrong.map((wrong) => shownWrong(wrong, SHORT.seed))
  assert.deepEqual(found, [])
  assert.deepEqual(troubles, [])
  assert.ok(tally.count('200') > tally.asked / 20, `${tally.count('200')} were admitted`)
})
