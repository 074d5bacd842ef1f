import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { AuthOptions } from '../../lib/index.ts'
import { as, authority } from '../helpers/app/guarded-app.ts'
import { deployedApp } from './deployed.ts'

const origin = 'https://app.example.com'
const url = '/lazy-raccoon/menu'

async function deployed(t: TestContext, over: AuthOptions = {}) {
  const lines: { level: number; msg: string }[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const options = { ...authority.options, ...over }
  const app = await deployedApp(options, { logger: { level: 'info', stream } })
  t.after(() => app.close())
  const failures = () =>
    lines.filter(({ msg }) => !/^(?:incoming request|request completed)$/.test(msg))
  return { app, failures }
}

test('a page of the other origin reads a refusal, which has the headers of helmet', async (t) => {
  const { app } = await deployed(t)
  const preflight = await app.inject({
    method: 'OPTIONS',
    url,
    headers: { origin, 'access-control-request-method': 'GET' },
  })
  assert.equal(preflight.statusCode, 204)
  const { statusCode, headers } = await app.inject({ url, headers: { origin } })
  assert.equal(statusCode, 401)
  assert.equal(headers['access-control-allow-origin'], origin)
  assert.equal(headers['access-control-expose-headers'], 'WWW-Authenticate, Retry-After')
  assert.equal(headers['x-content-type-options'], 'nosniff')
})

const down = () => {
  throw new Error('down')
}
for (const [what, path, options, status, logged] of [
  ['a refusal', '/busy-beaver/menu', {}, 403, 1],
  ['an outage', url, { isRevoked: down }, 503, 2],
  ['an error of a handler', '/lazy-raccoon/broken', {}, 500, 1],
] as const) {
  test(`${what} is ${status}, and is logged by one who knows of it`, async (t) => {
    const { app, failures } = await deployed(t, options)
    const headers = await as({ 'lazy-raccoon': [] })
    const answer = await app.inject({ url: path, headers })
    assert.equal(answer.statusCode, status)
    assert.doesNotMatch(answer.body, /secret|down/)
    // Of an outage the guard says besides which function has thrown what.
    assert.equal(failures().length, logged, JSON.stringify(failures()))
  })
}

test('who sends many bad tokens is sent away, and nobody else is', async (t) => {
  const { app } = await deployed(t)
  const user = await as({ 'lazy-raccoon': [] })
  const bad = { authorization: 'Bearer x' }
  const send = async (headers: object, forwarded: string) => {
    const answer = await app.inject({
      url,
      remoteAddress: '10.0.0.1',
      headers: { ...headers, 'x-forwarded-for': forwarded },
    })
    return answer.statusCode
  }
  // Those who are let through, or refused for another reason, are not counted.
  for (let i = 0; i < 25; i++) assert.equal(await send(user, '192.0.2.1'), 200)
  for (let i = 0; i < 20; i++) assert.equal(await send(bad, '192.0.2.1'), 401)
  assert.deepEqual(
    [await send(bad, '192.0.2.1'), await send(user, '192.0.2.1'), await send(user, '192.0.2.2')],
    [429, 429, 200],
  )
})
