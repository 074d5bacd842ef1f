import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'

/** Waits until something holds, and looks again and again. Fails after `limit` milliseconds. */
export async function until(holds: () => boolean, limit = 30_000): Promise<void> {
  const end = performance.now() + limit
  while (!holds()) {
    assert.ok(performance.now() < end, `waited in vain until ${holds}`)
    await setTimeout(2)
  }
}
