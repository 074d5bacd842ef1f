import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { DenyList } from '../../../lib/entrypoints/revocation/index.ts'
import type { TokenInfo } from '../../../lib/index.ts'
import type { AcceptedTokens } from '../../../lib/platform/callbacks/lifecycle.ts'
import { openLifecycle } from '../app/open-lifecycle.ts'
import { holdTime } from '../processes/age-by-date.ts'

/** The time at which tests of deny lists begin. */
export const START = Date.UTC(2026, 0, 1)
export const SECOND = 1000
export const HOUR = 3600 * SECOND
export const ISSUER_A = 'https://a.example.com'

/** What a token says that was issued a minute ago, for an hour. */
export function tokenOf(over: Partial<TokenInfo> = {}): TokenInfo {
  const issuedAt = new Date(Date.now() - 60 * SECOND)
  return {
    issuer: ISSUER_A,
    sub: 'alice',
    jti: 'token-1',
    sid: 'session-1',
    issuedAt,
    expiresAt: new Date(Date.now() + HOUR),
    ...over,
  }
}

/** `true`, `false`, or the code of what the list throws. */
export function verdictOf(list: DenyList, token = tokenOf()): boolean | string {
  try {
    return list({ sub: 'mapped' }, token)
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error, `no code: ${error}`)
    return String(error.code)
  }
}

/** Moves all clocks by hand, until the test ends. */
export function stopClocks(t: TestContext) {
  holdTime(t, { apis: ['setTimeout', 'Date'], now: START })
  return {
    /** In steps, so that what a timer begins can go on. */
    pass: async (milliseconds: number, step = SECOND) => {
      for (let left = milliseconds; left > 0; left -= step) {
        t.mock.timers.tick(Math.min(step, left))
        await settled()
      }
    },
  }
}

/** Lets all that needs no timer come to its end. */
export async function settled(): Promise<void> {
  // On a busy machine, a few entries may take several slices, and each slice is a turn.
  for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate)
}

/** Begins the work of a list, as a service does, until the test ends. */
export function attend(t: TestContext, list: DenyList, accepted?: AcceptedTokens) {
  const logged: string[] = []
  let isOpen = true
  const attendant = openLifecycle(list, (reason) => logged.push(reason), accepted)
  const close = () => {
    if (isOpen) attendant.close()
    isOpen = false
  }
  t.after(close)
  return { attendant, logged, close }
}
