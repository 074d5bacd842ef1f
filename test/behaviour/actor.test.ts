import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Actor } from '../../lib/index.ts'
import { as, authority, guardedApp } from '../helpers/app/guarded-app.ts'
import { assertRefused } from '../helpers/app/refusals.ts'

const ACT = { sub: 'support', iss: 'https://staff.test', act: { sub: 'service' } }
const ACTOR: Actor = { sub: 'support', issuer: 'https://staff.test' }

test('a handler sees who acts for the user, whatever mapClaims leaves of the claims', async (t) => {
  const opaqueToken = () => ({ iss: authority.issuer, aud: authority.audience, sub: 'u', act: ACT })
  for (const mapClaims of [(claims: object) => ({ sub: 'u', ...claims }), dropAll]) {
    const app = await guardedApp(t, { mapClaims, opaqueToken })
    const config = { authorization: true } as const
    app.get('/me', { config }, async ({ authorization }) => authorization)
    const actorFor = async (headers: object) =>
      (await app.inject({ url: '/me', headers: { ...headers } })).json().actor
    assert.deepEqual(await actorFor(await as({}, { act: ACT })), ACTOR)
    assert.deepEqual(await actorFor({ authorization: 'Bearer key' }), ACTOR)
    assert.equal(await actorFor(await as({})), null)
  }
})

/** It may change the claims that it is given. */
function dropAll(claims: Record<string, unknown>): { sub: string } {
  delete claims['act']
  return { sub: 'u' }
}

test('the actor stays where the application returns the rights', async (t) => {
  const app = await guardedApp(t, { resourcesOf: () => ({ acme: [] }) })
  app.get('/:tenant', { config: { authorization: true } }, async ({ authorization }) => ({
    actor: authorization.actor,
    isFrozen: Object.isFrozen(authorization.actor),
  }))
  const headers = await as({}, { act: ACT })
  const response = await app.inject({ url: '/acme', headers })
  assert.deepEqual(response.json(), { actor: ACTOR, isFrozen: true })
})

test('the whole chain of actors is there, the outermost first', async (t) => {
  const app = await guardedApp(t)
  app.get('/', { config: { authorization: true } }, async ({ authorization }) => {
    return [authorization.actors, Object.isFrozen(authorization.actors)]
  })
  const act = { sub: 'agent', act: { sub: 'desk', iss: 'https://staff.test' } }
  const chain = [
    { sub: 'agent', issuer: null },
    { sub: 'desk', issuer: 'https://staff.test' },
  ]
  const read = async (headers: Record<string, string>) =>
    (await app.inject({ url: '/', headers })).json()
  assert.deepEqual(await read(await as({}, { act })), [chain, true])
  assert.deepEqual(await read(await as({})), [[], true])
})

test('a token with a malformed actor is refused', async (t) => {
  const app = await guardedApp(t)
  app.get('/', async () => 'ok')
  const headers = await as({}, { act: { iss: 'https://staff.test' } })
  assertRefused(await app.inject({ url: '/', headers }), 'ERR_AUTH_TOKEN_INVALID')
})
