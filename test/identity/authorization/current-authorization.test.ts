import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  currentAuthorization,
  openContexts,
  runWithAuthorization,
} from '../../../lib/identity/authorization/current-authorization.ts'
import { Principal } from '../../../lib/identity/authorization/principal.ts'

const VOUCHED = { exp: 1e12, issuer: null, actors: [] }
const authorizationOf = (sub: string) => Principal.of({ sub }, VOUCHED, {}).in(null)
const ALICE = authorizationOf('alice')

test('without a service that has the option, code runs under no authorization', () => {
  assert.equal(currentAuthorization(), null)
  assert.equal(runWithAuthorization(ALICE, currentAuthorization), null)
})

test('a second service changes nothing for the first', () => {
  openContexts()
  runWithAuthorization(ALICE, () => {
    openContexts()
    assert.equal(currentAuthorization(), ALICE)
  })
})
