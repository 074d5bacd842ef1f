import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { proofAlgorithms } from '../../lib/identity/jwks/algorithms.ts'
import { errors, type RouteDeclaration } from '../../lib/index.ts'
import { boundApp, challengesOf } from '../helpers/app/bound-app.ts'
import { as, authority } from '../helpers/app/guarded-app.ts'
import { outcomeOf, rawRequest } from '../helpers/app/raw-request.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { boundToken, HOLDER, provedBy } from '../helpers/tokens/bound.ts'

const ALGS = `algs="${proofAlgorithms.join(' ')}"`
const BEARER = 'Bearer realm="api"'
const DPOP = 'DPoP realm="api"'

/** A challenge by its parts: what comes in which order is nobody's business. */
function partsOf(line: string): string[] {
  const [scheme = ''] = line.split(' ', 1)
  return [scheme, ...(line.slice(scheme.length + 1).match(/[\w-]+="[^"]*"/g) ?? [])].sort()
}

async function asked(app: FastifyInstance, url: string, headers: object = {}) {
  const response = await app.inject({ url, headers: { ...headers } })
  return { what: outcome(response), lines: challengesOf(response).lines }
}

function assertChallenges(found: readonly string[], ...expected: string[]): void {
  assert.deepEqual(found.map(partsOf), expected.map(partsOf))
  // RFC 9110 §11.6.1: no part of a challenge may stand twice.
  for (const line of found) assert.equal(new Set(partsOf(line)).size, partsOf(line).length, line)
}

const certificate = { clientCertificate: () => null }

/** Options, and the challenges to a stranger. */
const STRANGERS: readonly [what: string, options: object, expected: readonly string[]][] = [
  ['by default', { confirmation: undefined }, [BEARER]],
  ['with refuse', { confirmation: 'refuse' }, [BEARER]],
  ['with ignore', { confirmation: 'ignore' }, [BEARER]],
  ['with check', {}, [BEARER, `${DPOP}, ${ALGS}`]],
  ['with check and certificates', certificate, [BEARER, `${DPOP}, ${ALGS}`]],
  ['with require', { confirmation: 'require' }, [`${DPOP}, ${ALGS}`]],
  [
    'with require and certificates',
    { confirmation: 'require', ...certificate },
    [BEARER, `${DPOP}, ${ALGS}`],
  ],
  [
    'with a realm of its own',
    { realm: 'a "b"' },
    ['Bearer realm="a \\"b\\""', `DPoP realm="a \\"b\\"", ${ALGS}`],
  ],
]

for (const [what, options, expected] of STRANGERS) {
  test(`${what} a stranger is asked for ${expected.map((line) => line.split(' ')[0])}`, async (t) => {
    const app = await boundApp(t, options)
    const { what: refused, lines } = await asked(app, '/me')
    assert.equal(refused, '401 ERR_AUTH_TOKEN_MISSING')
    if (what.includes('realm')) assert.deepEqual(lines, expected)
    else assertChallenges(lines, ...expected)
  })
}

test('an open route that answers 401 itself asks for both schemes', async (t) => {
  const app = await boundApp(t, { confirmation: 'require' })
  app.get('/own', { config: { noauth: true } }, async () => {
    throw new errors.ERR_AUTH_TOKEN_MISSING()
  })
  const { what, lines } = await asked(app, '/own')
  assert.equal(what, '401 ERR_AUTH_TOKEN_MISSING')
  assertChallenges(lines, BEARER, `${DPOP}, ${ALGS}`)
})

test('two challenges are two headers on the wire', async (t) => {
  const app = await boundApp(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const answer = await rawRequest(app, 'GET /me HTTP/1.1', 'Host: x', 'Connection: close')
  assert.equal(outcomeOf(answer), '401 ERR_AUTH_TOKEN_MISSING')
  const lines = answer.split('\r\n').filter((line) => /^www-authenticate:/i.test(line))
  assert.equal(lines.length, 2)
})

test('a route that requires binding asks for DPoP alone', async (t) => {
  const app = await boundApp(t)
  const config: RouteDeclaration = { confirmation: 'require' }
  app.get('/pay', { config }, async () => 'ok')
  assertChallenges((await asked(app, '/pay')).lines, `${DPOP}, ${ALGS}`)
  assertChallenges((await asked(app, '/me')).lines, BEARER, `${DPOP}, ${ALGS}`)
  const unbound = await asked(app, '/pay', await as())
  assert.equal(unbound.what, '401 ERR_AUTH_TOKEN_INVALID')
  assertChallenges(unbound.lines, `${DPOP}, ${ALGS}, error="invalid_token"`)
})

const RESOURCE = 'https://api.test/mcp'
const METADATA = 'resource_metadata="https://api.test/.well-known/oauth-protected-resource/mcp"'

/** Requests to `/needs/…`, which requires `order:erase`, and what is said of them. */
test('the error stands in the challenge of the scheme that was used, the scope in that too', async (t) => {
  const app = await boundApp(t)
  const bound = await boundToken()
  const url = '/needs/lazy-raccoon'
  const lacking = 'error="insufficient_scope", scope="order:erase"'
  const rows: [headers: object, bearer: string, dpop: string][] = [
    [await as(), `${BEARER}, ${lacking}`, `${DPOP}, ${ALGS}`],
    [provedBy(HOLDER, bound, { url }), BEARER, `${DPOP}, ${ALGS}, ${lacking}`],
    [provedBy(HOLDER, bound), BEARER, `${DPOP}, ${ALGS}, error="invalid_dpop_proof"`],
    [{ authorization: `Bearer ${bound}` }, `${BEARER}, error="invalid_token"`, `${DPOP}, ${ALGS}`],
    [{ authorization: `DPoP ${bound}` }, BEARER, `${DPOP}, ${ALGS}, error="invalid_dpop_proof"`],
    [{ authorization: 'Bearer x.y.z' }, `${BEARER}, error="invalid_token"`, `${DPOP}, ${ALGS}`],
    [{ authorization: 'DPoP x.y.z' }, BEARER, `${DPOP}, ${ALGS}, error="invalid_token"`],
    [{ authorization: 'dpop' }, BEARER, `${DPOP}, ${ALGS}, error="invalid_token"`],
    [{ authorization: 'Basic x' }, BEARER, `${DPOP}, ${ALGS}`],
    [{ dpop: 'x' }, BEARER, `${DPOP}, ${ALGS}`],
  ]
  for (const [headers, bearer, dpop] of rows) {
    assertChallenges((await asked(app, url, headers)).lines, bearer, dpop)
  }
})

test('an unbound token of tokenFrom is a bearer token, though a proof came with it', async (t) => {
  const app = await boundApp(t, { tokenFrom: ({ headers }: FastifyRequest) => headers['x-token'] })
  const url = '/needs/lazy-raccoon'
  const lacking = 'error="insufficient_scope", scope="order:erase"'
  const bound = provedBy(HOLDER, await boundToken(), { url })
  const rows: [token: string, proof: string, bearer: string, dpop: string][] = [
    [(await as()).authorization.slice(7), 'x', `${BEARER}, ${lacking}`, `${DPOP}, ${ALGS}`],
    [bound.authorization.slice(5), bound.dpop, BEARER, `${DPOP}, ${ALGS}, ${lacking}`],
    ['x.y.z', 'x', BEARER, `${DPOP}, ${ALGS}, error="invalid_token"`],
  ]
  for (const [token, dpop, bearer, ofDpop] of rows) {
    assertChallenges((await asked(app, url, { 'x-token': token, dpop })).lines, bearer, ofDpop)
  }
})

test('with an address of its own each challenge names the metadata, and what to ask for', async (t) => {
  const app = await boundApp(t, { resource: RESOURCE, publicUrl: undefined, audience: undefined })
  const url = '/needs/lazy-raccoon'
  const { lines } = await asked(app, url)
  const scope = 'scope="order:erase"'
  assertChallenges(
    lines,
    `${BEARER}, ${scope}, ${METADATA}`,
    `${DPOP}, ${ALGS}, ${scope}, ${METADATA}`,
  )
  const bad = await asked(app, url, { authorization: 'DPoP x' })
  assertChallenges(
    bad.lines,
    `${BEARER}, ${scope}, ${METADATA}`,
    `${DPOP}, ${ALGS}, error="invalid_token", ${scope}, ${METADATA}`,
  )
})

test('with require the errors stand in the challenge that there is', async (t) => {
  const app = await boundApp(t, { confirmation: 'require' })
  const bound = await boundToken()
  const rows: [headers: object, error: string][] = [
    [provedBy(HOLDER, bound, { method: 'POST' }), 'invalid_dpop_proof'],
    [provedBy(HOLDER, await authority.token()), 'invalid_token'],
    [{ authorization: `DPoP ${bound}` }, 'invalid_dpop_proof'],
    [{ authorization: `Bearer ${bound}` }, 'invalid_token'],
    [await as(), 'invalid_token'],
  ]
  for (const [headers, error] of rows) {
    const { what, lines } = await asked(app, '/me', headers)
    assert.equal(what, '401 ERR_AUTH_TOKEN_INVALID')
    assertChallenges(lines, `${DPOP}, ${ALGS}, error="${error}"`)
  }
})

test('nothing that a client sends is in a challenge', async (t) => {
  const app = await boundApp(t)
  const { lines } = await asked(app, '/me', {
    host: 'evil.test',
    'x-forwarded-host': 'evil.test',
    authorization: 'DPoP evil.evil.evil',
    dpop: 'evil',
  })
  assert.equal(lines.join().includes('evil'), false)
})

test('an answer that no credentials would change has no challenge', async (t) => {
  const app = await boundApp(t, { tenants: ['quiet-otter'] })
  const token = await boundToken()
  for (const url of ['/t/lazy-raccoon', '/query', '/query?tenant=*']) {
    const { what, lines } = await asked(app, url, provedBy(HOLDER, token, { url }))
    assert.match(what, /^40[04] /)
    assert.deepEqual(lines, [])
  }
})
