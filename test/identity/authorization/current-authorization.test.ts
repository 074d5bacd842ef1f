import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import {
  currentAuthorization,
  openContexts,
  runWithAuthorization,
} from '../../../lib/identity/authorization/current-authorization.ts'
import { Principal } from '../../../lib/identity/authorization/principal.ts'

const VOUCHED = { exp: 1e12, issuer: null, actor: null }
const authorizationOf = (sub: string) => Principal.of({ sub }, VOUCHED, {}).in(null)
const ALICE = authorizationOf('alice')
const BOB = authorizationOf('bob')

test('without a service that has the option, code runs under no authorization', () => {
  assert.equal(currentAuthorization(), null)
  assert.equal(runWithAuthorization(ALICE, currentAuthorization), null)
})

test('code runs under an authorization until it ends, and so does what it has begun', async () => {
  openContexts()
  assert.equal(currentAuthorization(), null)
  const begun = runWithAuthorization(ALICE, async () => {
    assert.equal(currentAuthorization(), ALICE)
    await setImmediate()
    return currentAuthorization()
  })
  assert.equal(currentAuthorization(), null)
  assert.equal(await begun, ALICE)
})

test('code below may run under another authorization, or under none', () => {
  runWithAuthorization(ALICE, () => {
    const below = [ALICE, BOB, null].map((each) => runWithAuthorization(each, currentAuthorization))
    assert.deepEqual(below, [ALICE, BOB, null])
    assert.equal(below[1], BOB)
    assert.equal(currentAuthorization(), ALICE)
  })
})

test('an error leaves the authorization as it was', () => {
  const fail = () => {
    throw new Error('no soup')
  }
  assert.throws(() => runWithAuthorization(ALICE, fail), /no soup/)
  assert.equal(currentAuthorization(), null)
})

test('a second service changes nothing for the first', () => {
  runWithAuthorization(ALICE, () => {
    openContexts()
    assert.equal(currentAuthorization(), ALICE)
  })
})
