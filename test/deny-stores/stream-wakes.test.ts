import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { StreamWakes } from '../../lib/deny-stores/stream-wakes.ts'
import { MemoryStream } from '../helpers/servers/memory-stream.ts'
import { SECOND, settled, stopClocks } from '../helpers/tokens/denied.ts'

function start(t: TestContext) {
  const clocks = stopClocks(t)
  const stream = new MemoryStream()
  const at = { position: '0-0' }
  const wakes = new StreamWakes(stream, () => at.position)
  t.after(() => wakes.close())
  const wake = t.mock.fn()
  return { ...clocks, at, stream, wake, wakes, woken: () => wake.mock.callCount() }
}

test('it wakes when there is more, and not when a wait was in vain', async (t) => {
  const { pass, stream, wake, wakes, woken } = start(t)
  stream.beyond = [() => false, () => true, () => false]
  wakes.open(wake)
  await settled()
  assert.equal(woken(), 1)
  await pass(SECOND)
  assert.equal(woken(), 1)
  assert.equal(stream.beyond.length, 0)
  assert.deepEqual(stream.count, { made: 1, opened: 1, closed: 0 })
})

test('while waking brings nothing, it wakes less and less often', async (t) => {
  const { at, pass, stream, wake, wakes, woken } = start(t)
  stream.hasBeyond = async () => true
  wakes.open(wake)
  await pass(60 * SECOND, 20)
  const before = woken()
  assert.ok(before >= 10 && before <= 25, `${before} wakes in a minute`)
  at.position = '5-0'
  await pass(60 * SECOND, 20)
  assert.ok(woken() - before >= 10, `${woken() - before} wakes when something was read`)
})

/** Seconds until there is another one, and no third one. */
const ENDS: [how: string, seconds: number][] = [
  ['lost', 5],
  ['late', 10],
  ['refused', 5],
]

for (const [how, seconds] of ENDS) {
  test(`a connection that is ${how} is closed, and another one is made`, async (t) => {
    const { pass, stream, wake, wakes, woken } = start(t)
    if (how === 'refused') stream.beyond = [() => Promise.reject(new Error('on purpose'))]
    wakes.open(wake)
    await settled()
    if (how === 'lost') {
      stream.lose()
      stream.lose()
    }
    await pass(seconds * SECOND)
    assert.deepEqual(stream.count, { made: 2, opened: 2, closed: 1 })
    assert.equal(woken(), 0)
  })
}

test('where it cannot connect it tries again, and less often', async (t) => {
  const { pass, stream, wake, wakes } = start(t)
  stream.before = () => Promise.reject(new Error('on purpose'))
  wakes.open(wake)
  await pass(60 * SECOND)
  assert.ok(stream.count.made > 4 && stream.count.made < 9, `${stream.count.made} in a minute`)
  assert.equal(stream.count.closed, stream.count.made)
})

test('a client that cannot make a connection does no harm', async (t) => {
  const { pass, stream, wake, wakes } = start(t)
  stream.duplicate = () => {
    throw new Error('on purpose')
  }
  wakes.open(wake)
  await pass(SECOND)
  wakes.close()
})

test('a connection that is lost before it is open asks nothing', async (t) => {
  const { pass, stream, wake, wakes, woken } = start(t)
  stream.beyond = [() => true]
  stream.before = () => {
    if (stream.count.made === 1) stream.lose()
  }
  wakes.open(wake)
  await settled()
  assert.equal(woken(), 0)
  await pass(5 * SECOND)
  assert.equal(woken(), 1)
})

test('a client that opens a connection after its end closes it again', async (t) => {
  const { stream, wake, wakes } = start(t)
  const answers: (() => void)[] = []
  stream.before = () => new Promise((resolve) => answers.push(resolve))
  wakes.open(wake)
  await settled()
  wakes.close()
  assert.deepEqual(stream.count, { made: 1, opened: 0, closed: 1 })
  answers[0]?.()
  await settled()
  assert.deepEqual(stream.count, { made: 1, opened: 1, closed: 2 })
})

test('what is closed wakes no more, and what is opened again wakes once', async (t) => {
  const { pass, stream, wake, wakes, woken } = start(t)
  const answers: (() => void)[] = []
  stream.hasBeyond = () => new Promise((resolve) => answers.push(() => resolve(true)))
  wakes.open(wake)
  await settled()
  wakes.close()
  assert.equal(stream.count.closed, 1)
  answers[0]?.()
  const again = t.mock.fn()
  wakes.open(again)
  await pass(5 * SECOND)
  answers[1]?.()
  await settled()
  assert.equal(woken(), 0)
  assert.equal(again.mock.callCount(), 1)
  assert.equal(stream.count.made, 2)
})
