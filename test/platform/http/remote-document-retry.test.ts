import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { controlledDocument } from '../../helpers/servers/controlled-document.ts'

/** The waits between this many loads in a row that all fail at once. */
async function waits(t: TestContext, count: number): Promise<number[]> {
  const { document, loads, pass, fail } = controlledDocument(t)
  document.open()
  while (loads.length <= count) {
    if (document.running) await fail()
    await pass(0.01)
  }
  return loads.slice(1).map(({ at }, i) => at - (loads[i]?.at ?? 0))
}

test('many processes that fail together do not come back together', async (t) => {
  const sixth = new Set<number>()
  for (let round = 0; round < 10; round++) {
    t.mock.timers.reset()
    sixth.add(Math.round((await waits(t, 6))[5] ?? 0))
  }
  assert.ok(sixth.size > 2, [...sixth].join())
})

test('after a success the waits begin anew', async (t) => {
  const { document, loads, pass, succeed, fail } = controlledDocument(t)
  document.open()
  for (let i = 0; i < 5; i++) {
    await fail()
    await pass(30)
  }
  await succeed('one')
  await pass(480)
  await fail()
  const count = loads.length
  await pass(0.999)
  assert.equal(loads.length, count)
  await pass(0.001)
  assert.equal(loads.length, count + 1)
})

test('retryAfter counts down to the attempt that then takes place', async (t) => {
  const { document, loads, pass, fail } = controlledDocument(t, { retry: 10 })
  document.open()
  await fail()
  assert.equal(document.retryAfter, 10)
  await pass(7.5)
  assert.equal(document.retryAfter, 2.5)
  assert.equal(loads.length, 1)
  await pass(2.5)
  assert.equal(loads.length, 2)
})

test('during a load, the next attempt is after its time limit', async (t) => {
  const { document, pass, succeed } = controlledDocument(t)
  document.open()
  assert.equal(document.retryAfter, 5)
  await pass(2)
  assert.equal(document.retryAfter, 3)
  await succeed('one')
  assert.equal(document.retryAfter, 480)
})

test('mayLoad is false during a load, and until the wait is over', async (t) => {
  const { document, pass, succeed, fail } = controlledDocument(t)
  document.open()
  assert.equal(document.mayLoad, false)
  await succeed('one')
  assert.equal(document.mayLoad, true)
  void document.reload()
  assert.equal(document.mayLoad, false)
  await fail()
  assert.equal(document.mayLoad, false)
  await pass(0.999)
  assert.equal(document.mayLoad, false)
  await pass(0.001)
  assert.equal(document.mayLoad, true)
})
