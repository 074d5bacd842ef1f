import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { test } from 'node:test'
import { seacatExchange } from '../../../lib/entrypoints/introspection/index.ts'
import { configError } from '../../helpers/app/config-error.ts'
import { openLifecycle } from '../../helpers/app/open-lifecycle.ts'
import { askedServer } from '../../helpers/servers/asked-server.ts'

const JWT = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2ln-_'
const TOKEN = 'an-access-token.of/SeaCat+Auth'

async function exchanging(answer: RequestListener) {
  const server = await askedServer(answer)
  return { server, ask: seacatExchange({ url: `${server.url}nginx/introspect` }) }
}

test('the token goes as it came, and the ID token comes back', async () => {
  const { server, ask } = await exchanging(({ method, url, headers }, response) => {
    const asked = [method, url, headers.authorization, headers['content-length']]
    assert.deepEqual(asked, ['POST', '/nginx/introspect', `Bearer ${TOKEN}`, '0'])
    response.setHeader('authorization', `Bearer ${JWT}`).end()
  })
  assert.equal(await ask(TOKEN), JWT)
  assert.equal(server.count, 1)
})

test('401 is no', async () => {
  const { ask } = await exchanging((_, response) => response.writeHead(401).end())
  assert.equal(await ask(TOKEN), null)
})

test('401 with an ID token is no', async () => {
  const { ask } = await exchanging((_, response) =>
    response.writeHead(401, { authorization: `Bearer ${JWT}` }).end(),
  )
  assert.equal(await ask(TOKEN), null)
})

const given = (authorization: string, status = 200): RequestListener => {
  return (_, response) => response.writeHead(status, { authorization }).end()
}

const ODD: readonly [what: string, answer: RequestListener][] = [
  ['200 without a header', (_, response) => response.end(JWT)],
  ['an opaque token', given('Bearer opaque')],
  ['another scheme', given(`Basic ${JWT}`)],
  ['two parts', given('Bearer a.b')],
  ['an empty part', given('Bearer a..c')],
  ['four parts', given(`Bearer ${JWT}.d`)],
  ['two tokens', given(`Bearer ${JWT}, Bearer ${JWT}`)],
  ['another character', given(`Bearer ${JWT}=`)],
  ['201', given(`Bearer ${JWT}`, 201)],
  ['403', given(`Bearer ${JWT}`, 403)],
  ['500', given(`Bearer ${JWT}`, 500)],
  [
    'a redirect',
    (_, response) =>
      response.writeHead(302, { location: '/', authorization: `Bearer ${JWT}` }).end(),
  ],
]

for (const [what, answer] of ODD) {
  test(`${what} is no answer`, async () => {
    const { server, ask } = await exchanging(answer)
    await assert.rejects(ask(TOKEN), { code: 'ERR_INTROSPECTION_ANSWER' })
    assert.equal(server.count, 1)
  })
}

test('the status of an answer is reported, unless it is 200', async () => {
  for (const [status, more] of [
    [200, ''],
    [403, ': answered with status 403'],
  ] as const) {
    const { ask } = await exchanging((_, response) => response.writeHead(status).end())
    await assert.rejects(ask(TOKEN), { message: `the server gave no usable answer${more}` })
  }
})

test('a server that is away is no answer', async () => {
  const { server, ask } = await exchanging(() => {})
  await server.close()
  await assert.rejects(ask(TOKEN), { code: 'ERR_INTROSPECTION_NO_ANSWER' })
})

test('a question that is open ends with the service', async (t) => {
  // So that it does not end by itself.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let arrive = () => {}
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const { ask } = await exchanging(() => arrive())
  const lifecycle = openLifecycle(ask)
  const refused = assert.rejects(ask(TOKEN), { code: 'ERR_INTROSPECTION_NO_ANSWER' })
  await arrived
  lifecycle.close()
  await refused
})

test('a bad url, and a member that it does not know, are refused', () => {
  const make = (options: unknown) => Reflect.apply(seacatExchange, undefined, [options])
  for (const url of [undefined, null, '', 'http://auth.example.com', 'https://a:b@example.com']) {
    assert.throws(() => make({ url }), configError('url: expected an https URL'))
  }
  assert.throws(() => make(undefined), configError('url: expected', '(seacatExchange())'))
  const found = () => make({ url: 'https://auth.example.com', issuer: 'https://auth.example.com' })
  assert.throws(found, configError('issuer: expected one of url'))
})
