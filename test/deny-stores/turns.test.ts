import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Turns } from '../../lib/deny-stores/turns.ts'
import { settled } from '../helpers/tokens/denied.ts'

test('one at a time: of those that wait the latest alone has the next turn', async () => {
  const turns = new Turns()
  const done: string[] = []
  const ends: (() => void)[] = []
  const work = (name: string) => async () => {
    done.push(name)
    await new Promise<void>((resolve) => ends.push(resolve))
    return name
  }
  const first = turns.take(work('first'))
  for (let i = 0; i < 100; i++) void turns.take(work('given up'))
  const latest = turns.take(work('latest'))
  await settled()
  assert.deepEqual(done, ['first'])
  ends[0]?.()
  assert.equal(await first, 'first')
  const next = turns.take(work('next'))
  await settled()
  assert.deepEqual(done, ['first', 'latest'])
  ends[1]?.()
  assert.equal(await latest, 'latest')
  await settled()
  ends[2]?.()
  assert.equal(await next, 'next')
})

test('after work that failed, the next has its turn', async () => {
  const turns = new Turns()
  const failing = turns.take(() => Promise.reject(new Error('on purpose')))
  const next = turns.take(async () => 'next')
  await assert.rejects(failing, /on purpose/)
  assert.equal(await next, 'next')
  assert.equal(await turns.take(async () => 'last'), 'last')
})
