import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { assertUnproved, boundApp } from '../helpers/app/bound-app.ts'
import { assertNoLeak, textOf } from '../helpers/app/canaries.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcomeOf, rawRequest } from '../helpers/app/raw-request.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { BAD_PROOFS, BENT_HASHES, ODD_KEYS } from '../helpers/tokens/bad-proofs.ts'
import {
  boundToken,
  dpop,
  HOLDER,
  hashOf,
  type ProofParts,
  PUBLIC,
  proofKey,
  proofOf,
  provedBy,
} from '../helpers/tokens/bound.ts'

/** An application, a token of the holder, and which proofs were noted as seen. */
async function start(t: TestContext, options: object = {}) {
  const seen: string[] = []
  const { logger, raw, lines } = logLines()
  const proofSeen = (key: string) => {
    if (seen.includes(key)) return false
    seen.push(key)
    return true
  }
  const app = await boundApp(t, { proofSeen, ...options }, { logger })
  const token = await boundToken()
  const ask = (proof: string, by = token) => app.inject({ url: '/me', headers: dpop(by, proof) })
  return { app, token, seen, ask, raw, lines }
}

/** Reasons of the log by the fault of the proof. */
const reasons = new Map<string, Set<string>>()

for (const { what, fault, parts } of BAD_PROOFS) {
  test(`a proof with ${what} is refused, and uses nothing up`, async (t) => {
    const { token, seen, ask, raw, lines } = await start(t)
    const isOwnId = typeof parts.claims === 'object' && 'jti' in parts.claims
    const jti = isOwnId ? {} : { jti: 'one-id' }
    const claims = isObject(parts.claims) ? { ...jti, ...parts.claims } : parts.claims
    const proof = proofOf(HOLDER, { token, ...parts, claims: claims ?? jti })
    for (const _ of ['unknown token', 'known token']) {
      const response = await ask(proof)
      const isOtherKey = response.headers['www-authenticate']?.toString().includes('invalid_token')
      // A bent key may be found out by its thumbprint first.
      const error = fault === 'jwk' && isOtherKey ? 'invalid_token' : 'invalid_dpop_proof'
      assertUnproved(response, error)
      assertNoLeak([textOf(response), ...raw], token)
      if (proof.length > 16) assertNoLeak([textOf(response), ...raw], proof)
    }
    assert.deepEqual(seen, [])
    for (const { reason } of lines('request refused')) {
      assert.ok(typeof reason === 'string', 'there is no reason')
      assert.match(reason, /^(?:DPoP proof: |the DPoP proof is )\w/)
      reasons.set(fault, (reasons.get(fault) ?? new Set()).add(reason))
    }
    const good = proofOf(HOLDER, { token, claims: { jti: 'one-id' } })
    assert.equal(outcome(await ask(good)), '200')
    assert.deepEqual(seen, [`${HOLDER.thumbprint}.${hashOf('one-id')}`])
    assertNoLeak(raw, good)
    assertUnproved(await ask(good), 'invalid_dpop_proof')
  })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Buffer.isBuffer(value)
}

test('no two faults of claims and signature have the same reason', () => {
  const apart = ['typ', 'crit', 'htm', 'htu', 'iat', 'jti', 'ath', 'signature', 'missing']
  const all = apart.flatMap((fault) => [...(reasons.get(fault) ?? [])])
  const shown = apart.every((fault) => reasons.has(fault))
  assert.ok(shown, 'a fault was not tried')
  const shared = all.filter((reason, index) => all.indexOf(reason) !== index)
  assert.deepEqual(shared, [])
})

for (const [what, bend] of BENT_HASHES) {
  test(`a proof whose ath is ${what} is refused, and uses nothing up`, async (t) => {
    const { token, seen, ask } = await start(t)
    const claims = { jti: 'one-id', ath: bend(token) }
    // In base64 some hashes are the same as in base64url.
    if (claims.ath === hashOf(token)) return
    assertUnproved(await ask(proofOf(HOLDER, { token, claims })), 'invalid_dpop_proof')
    assert.deepEqual(seen, [])
    const good = proofOf(HOLDER, { token, claims: { jti: 'one-id' } })
    assert.equal(outcome(await ask(good)), '200')
  })
}

for (const { what, key: make, bend } of ODD_KEYS) {
  test(`a proof by ${what} is refused, though the token is bound to it`, async (t) => {
    const { seen, ask, lines } = await start(t)
    const key = await make()
    const token = await boundToken(key)
    const proof = proofOf(key, { token, ...(bend && { bend }) })
    assert.ok(proof.length <= 4096, `${proof.length} characters`)
    for (const _ of [1, 2]) assertUnproved(await ask(proof, token), 'invalid_dpop_proof')
    assert.deepEqual(seen, [])
    const stranger = await proofKey('RS256')
    const other = await boundToken(stranger)
    const bent = proofOf(stranger, { token: other, bend: (text) => `${text.slice(0, -8)}AAAAAAAA` })
    await ask(bent, other)
    const [first, , last] = lines('request refused')
    assert.notEqual(first?.['reason'], last?.['reason'], 'the signature was verified')
  })
}

/** Proofs that are good, though few clients write such. */
const GOOD: readonly [what: string, parts: ProofParts][] = [
  ['a key with public members more', { header: { jwk: { ...HOLDER.jwk, kid: 'x', use: 'sig' } } }],
  ['a key whose members are in another order', { header: { jwk: reversed(HOLDER.jwk) } }],
  ['a kid', { header: { kid: 'x' } }],
  ['a fraction of a second', { claims: { iat: Date.now() / 1000 } }],
  ['a jti of one letter', { claims: { jti: 'x' } }],
  ['a jti of 256 letters', { claims: { jti: 'x'.repeat(256) } }],
  ['a jti of spaces and signs', { claims: { jti: ' .:/\\"\u0000é' } }],
  ['a nonce', { claims: { nonce: 'x' } }],
  ['a nonce that is a number', { claims: { nonce: 5 } }],
  ['a nonce that is null', { claims: { nonce: null } }],
  ['a nonce that is a list', { claims: { nonce: [{}] } }],
  ['claims of its own', { claims: { iss: 'x', aud: 5, sub: null, more: [1] } }],
]

function reversed(value: object): object {
  return Object.fromEntries(Object.entries(value).reverse())
}

for (const [what, parts] of GOOD) {
  test(`a proof with ${what} is good, once`, async (t) => {
    const { token, ask } = await start(t)
    const proof = proofOf(HOLDER, { token, ...parts })
    assert.equal(outcome(await ask(proof)), '200')
    assertUnproved(await ask(proof), 'invalid_dpop_proof')
  })
}

/** A proof of exactly so many characters. */
function proofOfLength(length: number, token: string, jti = 'one-id'): string {
  for (let size = 1; size < length; size++) {
    for (const more of ['', 'x', 'xx']) {
      const claims = { jti, pad: 'x'.repeat(size) }
      if (Math.abs(sizeOf(claims) - length) > 8) break
      const proof = proofOf(HOLDER, { token, claims, header: { more } })
      if (proof.length === length) return proof
    }
  }
  throw new Error(`there is none of ${length} characters`)

  function sizeOf(claims: { pad: string }): number {
    base ??= proofOf(HOLDER, { token, claims: { jti, pad: '' }, header: { more: '' } }).length
    return base + Math.ceil((claims.pad.length * 4) / 3)
  }
}

let base: number | undefined

test('a proof has at most 4,096 characters', async (t) => {
  const { token, seen, ask } = await start(t)
  assertUnproved(await ask(proofOfLength(4097, token)), 'invalid_dpop_proof')
  assertUnproved(
    await ask(proofOf(HOLDER, { token, claims: { x: 'x'.repeat(9000) } })),
    'invalid_dpop_proof',
  )
  assert.deepEqual(seen, [])
  assert.equal(outcome(await ask(proofOfLength(4096, token))), '200')
})

test('two headers with a proof are refused, whichever is good, and use nothing up', async (t) => {
  const { app, token, seen, lines } = await start(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const good = proofOf(HOLDER, { token })
  const send = async (...proofs: string[]) =>
    outcomeOf(
      await rawRequest(
        app,
        'GET /me HTTP/1.1',
        'Host: api.test',
        'Connection: close',
        `Authorization: DPoP ${token}`,
        ...proofs.map((proof, index) => `${index === 0 ? 'DPoP' : 'dpop'}: ${proof}`),
      ),
    )
  for (const proofs of [
    [good, good],
    [good, 'x'],
    ['x', good],
    [good, ''],
    ['', good],
  ]) {
    assert.equal(await send(...proofs), '401 ERR_AUTH_TOKEN_INVALID')
    assert.equal(lines('request refused').at(-1)?.['reason'], 'DPoP proof: there are several')
  }
  assert.deepEqual(seen, [])
  assert.equal(await send(good), '200')
  assert.equal(seen.length, 1)
})

test('two Authorization headers are refused, and use nothing up', async (t) => {
  const { app, token, seen } = await start(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const proof = `DPoP: ${proofOf(HOLDER, { token })}`
  const lines = ['GET /me HTTP/1.1', 'Host: api.test', 'Connection: close']
  for (const others of [[`DPoP ${token}`], [`Bearer ${token}`], ['Basic x']]) {
    const all = [`DPoP ${token}`, ...others].map((value) => `Authorization: ${value}`)
    const answer = await rawRequest(app, ...lines, ...all, proof)
    assert.equal(outcomeOf(answer), '401 ERR_AUTH_TOKEN_INVALID')
  }
  assert.deepEqual(seen, [])
})

test('a proof by another key is refused as a key that does not fit', async (t) => {
  const { token, seen, ask } = await start(t)
  for (const alg of ['ES256', 'EdDSA', 'RS256']) {
    const stranger = await proofKey(alg)
    assertUnproved(await ask(proofOf(stranger, { token })), 'invalid_token')
  }
  const stranger = await proofKey()
  const signedByHolder = proofOf(stranger, { token, signer: HOLDER.pair })
  assertUnproved(await ask(signedByHolder), 'invalid_token')
  assert.deepEqual(seen, [])
})

test('a proof is judged by its key, its claims and its signature, one after the other', async (t) => {
  const { token, ask, lines } = await start(t)
  const wrong: ProofParts = {
    token,
    method: 'POST',
    bend: (text) => `${text.slice(0, -8)}AAAAAAAA`,
  }
  for (const key of [await proofKey(), HOLDER]) await ask(proofOf(key, wrong))
  const reasons = lines('request refused').map(({ reason }) => reason)
  const byKey = 'the DPoP proof is of another key'
  assert.deepEqual(reasons, [byKey, 'DPoP proof: for another method'])
})

test('a key that was seen with one token proves no other token', async (t) => {
  const { token, ask } = await start(t)
  const other = await proofKey()
  const theirs = await boundToken(other)
  assert.equal(outcome(await ask(proofOf(HOLDER, { token }))), '200')
  assert.equal(outcome(await ask(proofOf(other, { token: theirs }), theirs)), '200')
  assertUnproved(await ask(proofOf(other, { token })), 'invalid_token')
  assertUnproved(await ask(proofOf(HOLDER, { token: theirs }), theirs), 'invalid_token')
})

test('a header that is too long to be remembered does not stand for an empty one', async (t) => {
  const { token, ask } = await start(t)
  const long = { kid: 'x'.repeat(1100) }
  for (const _ of [1, 2]) {
    assert.equal(outcome(await ask(proofOf(HOLDER, { token, header: long }))), '200')
    assertUnproved(await ask(proofOf(HOLDER, { token, header: '' })), 'invalid_dpop_proof')
  }
})

/** What is expected and found, at level debug alone. */
const MISMATCHES: readonly [of: string, parts: ProofParts, expected: RegExp, found: RegExp][] = [
  ['htm', { claims: { htm: 'POST' } }, /GET/, /POST/],
  ['htu', { claims: { htu: `${PUBLIC}/other` } }, /api\.test\/me/, /api\.test\/other/],
  ['iat', { claims: { iat: 1_000_000_000 } }, /./, /1000000000/],
  ['typ', { header: { typ: 'JWT' } }, /dpop\+jwt/, /JWT/],
  ['alg', { header: { alg: 'HS256' } }, /ES256/, /HS256/],
]

for (const [of, parts, expected, found] of MISMATCHES) {
  test(`the log has the ${of} that was expected and found, at level debug`, async (t) => {
    for (const level of ['debug', 'info']) {
      const { logger, lines } = logLines(level)
      const app = await boundApp(t, {}, { logger })
      const token = await boundToken()
      await app.inject({ url: '/me', headers: provedBy(HOLDER, token, parts) })
      const [line] = lines('request refused')
      const mismatch = Object(line?.['mismatch'])
      if (level === 'info') {
        assert.equal(line?.['mismatch'], undefined)
        continue
      }
      assert.equal(mismatch.of, of)
      assert.match(String(mismatch.expected), expected)
      assert.match(String(mismatch.unverified), found)
    }
  })
}
