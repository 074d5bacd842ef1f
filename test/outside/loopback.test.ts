import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLoopback } from '../../lib/outside/protected-address.ts'

test('loopback is what stays on this machine', () => {
  for (const host of ['localhost', '127.0.0.1', '127.255.0.9', '::1', '[::1]']) {
    assert.equal(isLoopback(host), true, host)
  }
  const others = ['0.0.0.0', '::', '10.0.0.1', '10.127.0.1', '128.0.0.1', '127.', '::1:1', '']
  const names = ['a.test', '127.a.test', '127.0.0.1.a.test', 'localhost.a.test', 'a.localhost']
  for (const host of [...others, ...names]) {
    assert.equal(isLoopback(host), false, host)
  }
})
