import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { answers, type GuardedProcess } from './guarded-processes.ts'

/** The machine may be busy: the best of so many tries counts. */
const TRIES = 8

let serial = 0

/** A user that no entry names yet. */
export function newUser(): string {
  serial += 1
  return `user-${serial}`
}

/** Resolves when all processes refuse a user. */
export async function allRefuse(processes: readonly GuardedProcess[], sub: string): Promise<void> {
  await Promise.all(processes.map((process) => answers(process, sub, 401)))
}

/**
 * Asserts that all processes refuse a user within so many seconds after its entry was added. This
 * is the one place where tests assert a time. The entry is added in turn by each process, or as the
 * test says.
 */
export async function revokedWithin(
  t: TestContext,
  seconds: number,
  processes: readonly GuardedProcess[],
  add = async (sub: string, adder: GuardedProcess) => assert.equal(await adder.add({ sub }), 200),
): Promise<void> {
  const measured: number[] = []
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const [sub, adder] = [newUser(), processes[attempt % processes.length]]
    assert.ok(adder, 'there is a process')
    for (const process of processes) assert.equal(await process.statusFor(sub), 200)
    await add(sub, adder)
    const begin = performance.now()
    await allRefuse(processes, sub)
    measured.push((performance.now() - begin) / 1000)
    if (measured.length > 1 && Math.min(...measured) <= seconds) break
  }
  t.diagnostic(`${processes.length} processes: ${measured.map((one) => one.toFixed(3))} s`)
  assert.ok(Math.min(...measured) <= seconds, `${measured} s, and never within ${seconds} s`)
}
