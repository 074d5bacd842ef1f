import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { HeardChannels } from './heard-channels.ts'

test('what a test file has subscribed to is heard until its end, and no longer', () => {
  const channels = new HeardChannels()
  const heard: unknown[] = []
  channels.exports.subscribe('mutation.test', (message) => heard.push(message))
  channel('mutation.test').publish(1)
  channels.end()
  channel('mutation.test').publish(2)
  assert.deepEqual(heard, [1])
  assert.equal(channels.exports.channel('mutation.test').hasSubscribers, false)
})
