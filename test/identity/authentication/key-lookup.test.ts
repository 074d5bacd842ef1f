import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { AuthError, ERR_AUTH_TOKEN_INVALID } from '../../../lib/errors.ts'
import { findSigningKeys } from '../../../lib/identity/authentication/key-lookup.ts'
import type { VerificationKey } from '../../../lib/identity/jwks/jwk.ts'
import { type KeySet, readKeySet } from '../../../lib/identity/jwks/jwk-set.ts'
import type { KeySource } from '../../../lib/identity/jwks/key-source.ts'
import type { JoseHeader } from '../../../lib/identity/jwt/compact-jws.ts'
import { forgeKey } from '../../helpers/tokens/forge.ts'

const [SET_ONE, SET_TWO] = [setOf('one'), setOf('two')]
const NAMELESS: JoseHeader = { alg: 'ES256', kid: undefined, typ: undefined, type: undefined }

function setOf(kid: string): KeySet {
  return readKeySet({ keys: [forgeKey('ES256', kid).publicJwk] })
}

/** Keys of now, and those that come one after the other; undefined: they are gone. */
function keysOf(now: KeySet | undefined, ...next: (KeySet | undefined)[]) {
  let current = now
  let looks = 0
  const come = async () => {
    await setImmediate()
    current = next.shift()
    return current
  }
  const source: KeySource = {
    open() {},
    close() {},
    current: () => current,
    settled: come,
    lookAgain() {
      looks += 1
      return next.length === 0 ? undefined : come()
    },
    reload: async () => false,
    retryAfter: 7,
    state: () => ({ state: 'none', age: null, failure: null }),
  }
  return { source, looks: () => looks }
}

/** Looks for the key of a token that one key has signed. */
function find(
  { source }: ReturnType<typeof keysOf>,
  signer: string,
  header: JoseHeader = named(signer),
) {
  const tried: (string | undefined)[] = []
  const isSignedBy = ({ kid }: VerificationKey) => {
    tried.push(kid)
    return kid === signer
  }
  const found = async () => findSigningKeys(source, { header, isSignedBy })
  return { found, isSignedBy, tried }
}

const named = (kid: string): JoseHeader => ({ ...NAMELESS, kid })

const withReason = (reason: string) => (error: unknown) =>
  error instanceof AuthError && error.reason === reason

/** Sets of keys, and how many looks for newer ones lead to the key `two`. */
const WAYS: readonly [what: string, sets: (KeySet | undefined)[], looks: number][] = [
  ['the first keys have it', [undefined, SET_TWO], 0],
  ['the first keys lack it', [undefined, SET_ONE, SET_TWO], 1],
  ['the keys of now lack it', [SET_ONE, SET_TWO], 1],
  ['a fetch under way brings the same keys', [SET_ONE, SET_ONE, SET_TWO], 2],
]

for (const [what, [now, ...next], looks] of WAYS) {
  for (const header of [named('two'), NAMELESS]) {
    test(`where ${what}, ${looks} looks find it ${header.kid ? 'by' : 'without'} a name`, async () => {
      const keys = keysOf(now, ...next)
      assert.equal(await find(keys, 'two', header).found(), SET_TWO)
      assert.equal(keys.looks(), looks)
    })
  }
}

test('after two looks a key is unknown, and the refusal says which keys there are', async () => {
  const keys = keysOf(SET_ONE, SET_ONE, SET_ONE, SET_TWO)
  await assert.rejects(find(keys, 'two').found, (error) => {
    assert.ok(error instanceof ERR_AUTH_TOKEN_INVALID, `${error}`)
    const mismatch = { of: 'kid', expected: '"one"', unverified: '"two"' }
    assert.deepEqual([error.reason, error.mismatch], ['the key is unknown', mismatch])
    return true
  })
  assert.equal(keys.looks(), 2)
})

test('a set that has refused a signature is not tried again, and the refusal stays', async () => {
  for (const next of [[], [SET_ONE], [SET_ONE, SET_ONE]]) {
    const { found, tried } = find(keysOf(SET_ONE, ...next), 'forger', NAMELESS)
    await assert.rejects(found, withReason('the signature does not match'))
    assert.deepEqual(tried, ['one'])
  }
})
