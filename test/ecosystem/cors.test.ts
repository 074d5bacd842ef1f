import assert from 'node:assert/strict'
import { test } from 'node:test'
import cors from '@fastify/cors'
import { ALICE, beside, SIDES } from '../helpers/app/beside.ts'

const origin = 'https://menus.example'
const preflight = {
  method: 'OPTIONS',
  url: '/lazy-raccoon/menus',
  headers: { origin, 'access-control-request-method': 'PUT' },
} as const

/** Headers that a browser needs to show a refusal and its challenge to a page of another origin. */
const options = { origin, exposedHeaders: ['WWW-Authenticate', 'Retry-After'] }

for (const side of SIDES) {
  const answered = side === 'before' ? 'answered' : 'refused'
  test(`With @fastify/cors ${side} the guard a preflight is ${answered}, and no handler runs`, async (t) => {
    const { app } = await beside(t, side, (app) => app.register(cors, options))
    let handled = 0
    app.put('/:tenant/menus', async () => handled++)
    const answer = await app.inject(preflight)
    const expected = side === 'before' ? [204, origin] : [401, undefined]
    const { 'access-control-allow-origin': allowed } = answer.headers
    assert.deepEqual([answer.statusCode, allowed], expected)
    assert.equal(handled, 0)
  })

  test(`With @fastify/cors ${side} the guard a user's answer is readable from another origin`, async (t) => {
    const { app, authority } = await beside(t, side, (app) => app.register(cors, options))
    app.get('/:tenant/menus', async () => 'ok')
    const headers = { origin, ...(await authority.headers(ALICE)) }
    const answer = await app.inject({ url: '/lazy-raccoon/menus', headers })
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['access-control-allow-origin'], origin)
  })
}

test('With @fastify/cors before the guard a refusal is readable from another origin', async (t) => {
  const { app, authority, warnings } = await beside(t, 'before', (app) =>
    app.register(cors, options),
  )
  app.get('/:tenant/menus', async () => 'ok')
  const user = await authority.headers(ALICE)
  for (const [statusCode, headers] of [
    [401, {}],
    [403, user],
  ] as const) {
    const answer = await app.inject({ url: '/busy-badger/menus', headers: { origin, ...headers } })
    assert.equal(answer.statusCode, statusCode)
    assert.equal(answer.headers['access-control-allow-origin'], origin)
    assert.match(String(answer.headers['access-control-expose-headers']), /WWW-Authenticate/)
    assert.match(String(answer.headers['www-authenticate']), /^Bearer /)
  }
  const shown = warnings.filter((warning) => warning.includes('cors'))
  assert.deepEqual(shown, [])
})

test('With @fastify/cors after the guard one warning at boot says that preflights are refused', async (t) => {
  const { app, warnings } = await beside(t, 'after', (app) => app.register(cors, options))
  app.get('/menus', async () => 'ok')
  const answer = await app.inject({ url: '/menus', headers: { origin } })
  assert.equal(answer.statusCode, 401)
  assert.equal(answer.headers['access-control-allow-origin'], undefined)
  const found = warnings.filter((warning) => warning.includes('@fastify/cors'))
  assert.equal(found.length, 1)
  assert.match(String(found[0]), /^tenant auth: .*refuses preflights.*register it before/)
})
