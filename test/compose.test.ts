import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import type { TestTokenOptions } from '../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions } from '../lib/index.ts'
import { authority } from './helpers/app/guarded-app.ts'
import { askedServer } from './helpers/servers/asked-server.ts'

/** The status of a request with this token under these options; the token is known for the second. */
async function statusOf(options: AuthOptions, token: TestTokenOptions = {}): Promise<number> {
  const app = Fastify()
  await app.register(tenantAuth, { publicKeys: authority.publicKeys, ...options })
  app.get('/', async () => 'ok')
  const headers = await authority.headers({}, token)
  const first = await app.inject({ url: '/', headers })
  const second = await app.inject({ url: '/', headers })
  await app.close()
  assert.equal(second.statusCode, first.statusCode)
  return first.statusCode
}

const typ = (value: string | undefined) => ({ header: { typ: value } })

const TABLE: readonly (readonly [string, AuthOptions, TestTokenOptions, number])[] = [
  ['any issuer and audience where none is configured', {}, { issuer: 'x', audience: 'y' }, 200],
  ['an issuer given as a string', { issuer: 'a' }, { issuer: 'a' }, 200],
  ['an issuer of a list', { issuer: ['a', 'b'] }, { issuer: 'b' }, 200],
  ['another issuer than the string', { issuer: 'a' }, { issuer: 'ab' }, 401],
  ['another issuer than the list has', { issuer: ['a', 'b'] }, { issuer: 'c' }, 401],
  ['an audience given as a string', { audience: 'a' }, { audience: ['z', 'a'] }, 200],
  ['an audience of a list', { audience: ['a', 'b'] }, { audience: 'b' }, 200],
  ['another audience', { audience: ['a', 'b'] }, { audience: 'c' }, 401],
  ['a typ of the list', { tokenTypes: ['application/x+jwt'] }, typ('x+jwt'), 200],
  ['a typ that is not on the list', { tokenTypes: ['x+jwt'] }, typ('JWT'), 401],
  ['no typ where there is a list', { tokenTypes: ['JWT'] }, typ(undefined), 401],
  ['a token that ended within clockTolerance', { clockTolerance: 60 }, { expiresIn: -30 }, 200],
  ['a token that ended, with clockTolerance 0', { clockTolerance: 0 }, { expiresIn: -1 }, 401],
]

for (const [name, options, token, status] of TABLE) {
  test(`${name}: ${status}`, async () => {
    assert.equal(await statusOf(options, token), status)
  })
}

test('keys in code win over any URL, and the URL is not asked', async () => {
  const server = await askedServer((_request, response) => response.end('{}'))
  assert.equal(await statusOf({ publicKeysUrl: server.url }), 200)
  assert.equal(server.count, 0)
})
