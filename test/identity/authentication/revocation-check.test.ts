import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthError } from '../../../lib/errors.ts'
import {
  checkRevocation,
  WATCH,
  watchOf,
} from '../../../lib/identity/authentication/revocation-check.ts'
import type { Verified } from '../../../lib/identity/authentication/verified-tokens.ts'
import { Principal } from '../../../lib/identity/authorization/principal.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'

const WAITS = new PendingRequests()
const EXP = 1_900_000_000
const NAMES = { issuer: 'https://a.test', sub: 'u', jti: 'j', sid: null }
const VOUCHED = { exp: EXP, issuer: NAMES.issuer, actor: null }
const VERIFIED: Verified = {
  principal: Principal.of({ sub: 'mapped' }, VOUCHED, {}),
  lifetime: { exp: EXP, nbf: undefined, iat: undefined },
  names: NAMES,
  tenants: '*',
  validity: { isValid: true },
  isOpaque: false,
}

/** The same user, whose rights may be others than those of the token. */
const USER = Principal.of({ sub: 'mapped', resources: { acme: [] } }, VOUCHED, {})

const revoked = (error: unknown) => error instanceof AuthError && error.reason === 'revoked'

test('without a function the token passes', () => {
  assert.equal(checkRevocation(USER, VERIFIED, { timeout: 5 }, WAITS), USER)
})

test('an answer that is there at once costs no promise', () => {
  assert.equal(checkRevocation(USER, VERIFIED, { isRevoked: () => false, timeout: 5 }, WAITS), USER)
  assert.throws(
    () => checkRevocation(USER, VERIFIED, { isRevoked: () => true, timeout: 5 }, WAITS),
    revoked,
  )
})

test('an answer that comes later is waited for', async () => {
  const ask = async (answer: boolean) =>
    checkRevocation(USER, VERIFIED, { isRevoked: async () => answer, timeout: 5 }, WAITS)
  assert.equal(await ask(false), USER)
  await assert.rejects(() => ask(true), revoked)
})

test('the function is told the user, and what the token says of itself', () => {
  const asked: unknown[] = []
  const isRevoked = (...told: unknown[]) => {
    asked.push(...told)
    return false
  }
  void checkRevocation(USER, VERIFIED, { isRevoked, timeout: 5 }, WAITS)
  const token = { ...NAMES, issuedAt: null, expiresAt: new Date(EXP * 1000) }
  assert.deepEqual(asked, [USER.userInfo, token])
})

test('an answer that is no boolean is a 503', () => {
  for (const answer of [undefined, null, 0, 1, 'false', {}]) {
    const isRevoked: object = { isRevoked: () => answer }
    assert.throws(() => checkRevocation(USER, VERIFIED, { ...isRevoked, timeout: 5 }, WAITS), {
      code: 'ERR_AUTH_REVOCATION_UNAVAILABLE',
    })
  }
})

test('a function that fails, or has not answered when the application closes, is a 503', async () => {
  const isRevoked = () => JSON.parse('')
  assert.throws(() => checkRevocation(USER, VERIFIED, { isRevoked, timeout: 5 }, WAITS), {
    code: 'ERR_AUTH_REVOCATION_UNAVAILABLE',
    reason: 'isRevoked failed (SyntaxError)',
    retryAfter: 1,
  })
  const waits = new PendingRequests()
  const hanging = { isRevoked: () => new Promise<boolean>(() => {}), timeout: 5 }
  const ended = assert.rejects(async () => checkRevocation(USER, VERIFIED, hanging, waits), {
    code: 'ERR_AUTH_REVOCATION_UNAVAILABLE',
    reason: 'isRevoked had not answered when the application closed',
  })
  waits.end()
  await ended
})

const watch = () => () => {}

test('a function carries its watch as a property of its own', () => {
  assert.equal(watchOf(Object.assign(() => false, { [WATCH]: watch })), watch)
})

const OTHERS: readonly [what: string, value: unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['a function without a watch', () => false],
  ['a function that inherits one', Object.setPrototypeOf(() => false, { [WATCH]: watch })],
  ['an object with a watch', { [WATCH]: watch }],
]

for (const [what, value] of OTHERS) {
  test(`${what} has no watch`, () => {
    assert.equal(watchOf(value), undefined)
  })
}
