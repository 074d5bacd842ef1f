import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { introspection, seacatExchange } from '../../lib/entrypoints/introspection/index.ts'
import { lifecycleOf } from '../../lib/platform/callbacks/lifecycle.ts'
import { assertNoLeak } from '../helpers/app/canaries.ts'
import { openLifecycle } from '../helpers/app/open-lifecycle.ts'
import {
  type Asked,
  BASIC,
  CLIENT,
  type IntrospectionServer,
  introspectionServer,
  json,
} from '../helpers/servers/introspection-server.ts'
import { imported } from '../helpers/tokens/forge.ts'

const TOKEN = 'a-token-that-nobody-else-may-see'
const { privateKey } = imported(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
const JWK = privateKey.export({ format: 'jwk' })
const SECRETS = [CLIENT.clientSecret, BASIC, String(JWK.d)]

type Ask = ReturnType<typeof introspection>

/** All that can be seen of a value, hidden properties too. */
const shown = (value: unknown) =>
  [String(value), JSON.stringify(value), inspect(value, { showHidden: true, depth: 20 })].join()

/** All that can be seen of the functions, of what they throw, and of what the log has. */
async function seen(t: TestContext, answer: IntrospectionServer['answer'], token = TOKEN) {
  const server = await introspectionServer(t)
  const { clientId } = CLIENT
  const { issuer, url } = server
  const texts: string[] = []
  const asks: Ask[] = [
    introspection({ issuer, ...CLIENT }),
    introspection({ issuer, url, ...CLIENT }),
    introspection({ issuer, clientId, privateKey: JWK }),
    introspection({ issuer, signed: true, ...CLIENT }),
    seacatExchange({ url: `${issuer}/introspect/nginx` }),
  ]
  server.metadata = { jwks_uri: `${issuer}/jwks` }
  for (const ask of asks) {
    openLifecycle(ask, (reason) => texts.push(reason))
    // To a random token and to a real one.
    server.answer = answer
    texts.push(await outcome(ask, token))
    server.answer = undefined
    await outcome(ask, 'another')
    server.answer = answer
    texts.push(await outcome(ask, token), shown(ask))
  }
  return texts
}

async function outcome(ask: Ask, token: string): Promise<string> {
  return ask(token).then(
    () => 'no error',
    (error: unknown) => shown(error),
  )
}

/** Servers that repeat what they were sent. */
const ECHOES: readonly [what: string, answer: IntrospectionServer['answer']][] = [
  ['400', (response, asked) => json(response, { error: asked.token, ...echo(asked) }, 400)],
  ['401', (response, asked) => json(response, { error: 'invalid_client', ...echo(asked) }, 401)],
  [
    '401 with a challenge',
    (response, { token, authorization }) =>
      response
        .writeHead(401, { 'www-authenticate': `Basic realm="${token}", x="${authorization}"` })
        .end(),
  ],
  ['500', (response, asked) => response.writeHead(500).end(inspect(asked))],
  ['no JSON', (response, asked) => response.end(inspect(asked))],
  ['no active', (response, asked) => json(response, echo(asked))],
  ['active for all', (response, asked) => json(response, { active: true, ...echo(asked) })],
  [
    'a redirect',
    (response, { token }) => response.writeHead(302, { location: `/?token=${token}` }).end(),
  ],
  [
    'a signed answer that is none',
    (response, { token }) =>
      response
        .writeHead(200, { 'content-type': 'application/token-introspection+jwt' })
        .end(`${token}.${token}.${token}`),
  ],
  [
    'no HTTP',
    (response, asked) => {
      response.socket?.end(inspect(asked))
    },
  ],
  ['a reset', (response) => response.socket?.resetAndDestroy()],
]

for (const [what, answer] of ECHOES) {
  test(`secret, key and token are not seen where the server answers with ${what}`, async (t) => {
    const texts = await seen(t, answer)
    assert.match(texts.join(), /ERR_INTROSPECTION_\w+/)
    for (const secret of [TOKEN, ...SECRETS]) assertNoLeak(texts, secret)
  })
}

test('a token that fits no header is not seen', async (t) => {
  const token = `${TOKEN}\r\nx-more: ${TOKEN}`
  assertNoLeak(await seen(t, undefined, token), token)
})

test('a function shows nothing of its options to those who look at it', () => {
  const ask = introspection({ issuer: 'https://login.example.com', ...CLIENT })
  assert.deepEqual(Object.entries(ask), [])
  assert.deepEqual(Object.keys(Object(lifecycleOf(ask))), [])
})

function echo({ token, authorization, body }: Asked): object {
  return { error_description: `${token} ${authorization} ${body}`, token, authorization }
}
