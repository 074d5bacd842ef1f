import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TokenInfo, UserInfo } from '../../lib/index.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { askedServer } from '../helpers/servers/asked-server.ts'
import { assertTokenRefused, goodToken, ISSUER, KEY, startProbe } from '../helpers/tokens/probe.ts'

const TOKEN = goodToken()

for (const [what, answer] of [
  ['at once', (is: boolean) => is],
  ['later', async (is: boolean) => is],
] as const) {
  test(`isRevoked, answering ${what}, is asked on every request, for cached tokens too`, async (t) => {
    const seen: UserInfo[] = []
    let revoked = false
    const probe = await startProbe(t, {
      isRevoked: (userInfo) => {
        seen.push(userInfo)
        return answer(revoked)
      },
    })
    for (const is of [false, true, true, false]) {
      revoked = is
      const response = await probe.ask(TOKEN)
      if (is) assertTokenRefused(response, 'revoked')
      else assert.equal(response.statusCode, 200)
    }
    assert.equal(seen.length, 4)
    assert.equal(seen[0]?.sub, 'alice')
    assert.equal(Object.isFrozen(seen[0]), true)
    // The user info is the same each time, because the token was verified only once.
    assert.equal(new Set(seen).size, 1)
    assert.equal(probe.handled.count, 2)
  })
}

test('isRevoked receives what the token itself says, not what mapClaims makes of it', async (t) => {
  const seen: TokenInfo[] = []
  const probe = await startProbe(t, {
    mapClaims: (claims) => {
      for (const name of Object.keys(claims)) delete claims[name]
      return { sub: 'mapped', jti: 'mapped' }
    },
    isRevoked: ({ sub }, token) => {
      assert.equal(sub, 'mapped')
      seen.push(token)
      token.issuedAt?.setTime(0)
      token.expiresAt?.setTime(0)
      return false
    },
  })
  const iat = Math.floor(Date.now() / 1000) - 10
  const exp = iat + 300
  const token = goodToken({ iat, exp, jti: 'token-1', sid: 'session-1' })
  for (let again = 0; again < 2; again++) assert.equal((await probe.ask(token)).statusCode, 200)
  assert.equal(
    (await probe.ask(goodToken({ iat: undefined, exp, sub: undefined }))).statusCode,
    200,
  )
  const names = { issuer: ISSUER, sub: 'alice', jti: 'token-1', sid: 'session-1' }
  const [first, cached, bare] = seen
  for (const received of [first, cached]) {
    const { issuedAt, expiresAt, ...rest } = received ?? assert.fail('isRevoked was not asked')
    assert.deepEqual(rest, names)
    assert.deepEqual([issuedAt?.getTime(), expiresAt?.getTime()], [0, 0], 'dates of its own')
    assert.equal(Object.isFrozen(received), true)
  }
  assert.notEqual(first?.expiresAt, cached?.expiresAt)
  const nothing = { issuer: ISSUER, sub: null, jti: null, sid: null, issuedAt: null }
  assert.deepEqual({ ...bare, expiresAt: undefined }, { ...nothing, expiresAt: undefined })
})

test('the dates that isRevoked receives are those of the token, on each call', async (t) => {
  const seen: unknown[] = []
  const probe = await startProbe(t, {
    isRevoked: (_userInfo, { issuedAt, expiresAt }) => {
      seen.push([Number(issuedAt) / 1000, Number(expiresAt) / 1000])
      issuedAt?.setTime(0)
      expiresAt?.setTime(0)
      return false
    },
  })
  const iat = Math.floor(Date.now() / 1000) - 10
  const token = goodToken({ iat, exp: iat + 300.5 })
  for (let again = 0; again < 3; again++) assert.equal((await probe.ask(token)).statusCode, 200)
  assert.deepEqual(
    seen,
    Array.from({ length: 3 }, () => [iat, iat + 300.5]),
  )
})

test('isRevoked is not asked about a token that is refused for another reason', async (t) => {
  let asked = 0
  const probe = await startProbe(t, {
    isRevoked: () => {
      asked += 1
      return false
    },
  })
  await probe.app.inject('/me')
  for (const token of ['x', `${TOKEN}AA`, goodToken({ exp: 1 }), goodToken({ sub: '' })]) {
    assertTokenRefused(await probe.ask(token), token.slice(-20))
  }
  assert.equal(asked, 0)
})

const NO_ANSWERS: [what: string, isRevoked: () => unknown][] = [
  ['rejects without an error', () => Promise.reject(null)],
  ['gives nothing', () => undefined],
  ['gives null', () => null],
  ['gives 0', () => 0],
  ['gives "false"', () => 'false'],
  ['promises no boolean', async () => 'no'],
]

for (const [what, isRevoked] of NO_ANSWERS) {
  test(`if isRevoked ${what}, the answer is 503`, async (t) => {
    // A value that a JavaScript application may give all the same.
    const options: object = { isRevoked }
    const probe = await startProbe(t, options)
    for (let again = 0; again < 2; again++) {
      const response = await probe.ask(TOKEN)
      assertRefused(response, 'ERR_AUTH_REVOCATION_UNAVAILABLE')
      assert.equal(response.headers['retry-after'], '1')
    }
    assert.equal(probe.handled.count, 0)
  })
}

for (const answer of [true, false]) {
  test(`isRevoked is asked about a token that had to wait for its key (revoked: ${answer})`, async (t) => {
    const keys = JSON.stringify({ keys: [KEY.publicJwk] })
    const { url } = await askedServer((_request, response) => void response.end(keys))
    for (const isRevoked of [() => answer, async () => answer]) {
      const probe = await startProbe(t, { publicKeysUrl: url, isRevoked })
      const response = await probe.ask(TOKEN)
      if (answer) assertTokenRefused(response, 'revoked')
      else assert.equal(response.statusCode, 200)
    }
  })
}
