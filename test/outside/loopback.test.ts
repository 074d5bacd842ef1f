import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLoopback } from '../../lib/outside/loopback.ts'

test('loopback is what stays on this machine', () => {
  for (const host of ['localhost', '127.0.0.1', '127.255.0.9', '::1', '[::1]']) {
    assert.equal(isLoopback(host), true, host)
  }
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', 'a.test', '127.a.test', '']) {
    assert.equal(isLoopback(host), false, host)
  }
})
