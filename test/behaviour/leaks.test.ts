import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertNoLeak, CANARY_CLAIMS, textOf } from '../helpers/app/canaries.ts'
import { authority, guardedApp } from '../helpers/app/guarded-app.ts'
import { ATTEMPTS, type Attempt, INVALID, writeRoutes } from '../helpers/app/leak-attempts.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { tenantServer } from '../helpers/servers/tenant-server.ts'

/** The token of the current attempt. Functions of the application repeat it where they can. */
let sent = ''

const secrets = () => ({ token: sent, claims: CANARY_CLAIMS })

function leakyError(): Error {
  const cause = new Error(`because of ${sent}`, { cause: secrets() })
  return Object.assign(
    new Error(`failed for ${sent} of ${CANARY_CLAIMS.sub}`, { cause }),
    secrets(),
  )
}

/**
 * Functions that leak all they know. They throw it or give it as a wrong answer, at once or later.
 */
const LEAKING: readonly [how: string, leak: () => never][] = [
  ['throws', () => raise(leakyError())],
  ['throws a string', () => raise(sent)],
  ['throws an object', () => raise(secrets())],
  ['throws an error by the name of it', () => raise(Object.assign(leakyError(), { name: sent }))],
  ['throws an error with the code of it', () => raise(Object.assign(leakyError(), { code: sent }))],
]

function raise(thrown: unknown): never {
  throw thrown
}

const TENANTS_503 = '503 ERR_AUTH_TENANTS_UNAVAILABLE'
const REVOCATION_503 = '503 ERR_AUTH_REVOCATION_UNAVAILABLE'

const THROWING: readonly Attempt[] = LEAKING.flatMap(([how, leak]): Attempt[] => {
  const late = async () => leak()
  const header = () => ''
  const url = '/query'
  return [
    { what: `isRevoked that ${how}`, outcome: REVOCATION_503, options: { isRevoked: leak } },
    { what: `isRevoked that ${how} later`, outcome: REVOCATION_503, options: { isRevoked: late } },
    { what: `tenants that ${how}`, outcome: TENANTS_503, options: { tenants: leak } },
    { what: `tenants that ${how} later`, outcome: TENANTS_503, options: { tenants: late } },
    {
      what: `resolveTenant that ${how}`,
      outcome: TENANTS_503,
      url,
      options: { resolveTenant: leak },
    },
    {
      what: `resolveTenant that ${how} later`,
      outcome: TENANTS_503,
      url,
      options: { resolveTenant: late },
    },
    { what: `mapClaims that ${how}`, outcome: INVALID, options: { mapClaims: leak } },
    { what: `tokenFrom that ${how}`, outcome: INVALID, options: { tokenFrom: leak }, header },
  ]
})

const ANSWERED: readonly Attempt[] = [
  {
    what: 'isRevoked that answers with it',
    outcome: REVOCATION_503,
    options: answering('isRevoked'),
  },
  { what: 'tenants that answers with it', outcome: TENANTS_503, options: answering('tenants') },
  {
    what: 'resolveTenant that answers with it',
    outcome: '400 ERR_AUTH_TENANT_INVALID',
    url: '/query',
    options: answering('resolveTenant'),
  },
  { what: 'mapClaims that answers with it', outcome: INVALID, options: answering('mapClaims') },
  {
    what: 'tokenFrom that gives it',
    outcome: '200',
    options: { tokenFrom: () => sent },
    header: () => '',
  },
  {
    what: 'keys that cannot be had',
    outcome: '503 ERR_AUTH_KEYS_UNAVAILABLE',
    options: { publicKeysUrl: 'http://127.0.0.1:1/keys' },
  },
]

/** The types forbid this, but functions written in JavaScript may answer anything. */
function answering(name: string): object {
  return { [name]: () => secrets() }
}

for (const it of [...ATTEMPTS, ...THROWING, ...ANSWERED]) {
  test(`with ${it.what} nothing of the token is seen: ${it.outcome}`, async (t) => {
    const { logger, raw } = logLines()
    const app = await guardedApp(t, it.options, { logger })
    writeRoutes(app)
    sent = await authority.token({ ...CANARY_CLAIMS, ...it.claims }, it.token)
    const authorization = it.header?.(sent) ?? `Bearer ${sent}`
    const headers = authorization === '' ? {} : { authorization }
    // Twice: with an empty cache, and with what is in the cache after that.
    for (const _ of [1, 2]) {
      const response = await app.inject({ url: it.url ?? '/held/x', headers })
      assert.equal(outcome(response), it.outcome)
      assertNoLeak([textOf(response), ...raw.map(ownWords)], sent)
      assert.equal(textOf(response).includes(authority.issuer), false)
    }
  })
}

/** A line without what the application's own function threw, which it may hold as it was. */
function ownWords(line: string): string {
  const { err: _, ...rest } = JSON.parse(line)
  return JSON.stringify(rest)
}

test('the answer of a tenant server is not repeated', async (t) => {
  const { logger, raw } = logLines()
  sent = await authority.token(CANARY_CLAIMS)
  for (const body of [JSON.stringify(secrets()), `<html>${sent} ${CANARY_CLAIMS.sub}</html>`]) {
    const server = await tenantServer(body)
    const app = await guardedApp(t, { tenants: server.url }, { logger })
    writeRoutes(app)
    const headers = { authorization: `Bearer ${sent}` }
    const response = await app.inject({ url: '/held/x', headers })
    assert.equal(outcome(response), TENANTS_503)
    assertNoLeak([textOf(response), ...raw], sent)
  }
})

test('an error of a query parser under the guard is not repeated', async (t) => {
  const { logger, raw } = logLines()
  const querystringParser = () =>
    Object.defineProperty({}, 'tenant', { get: () => raise(leakyError()) })
  const app = await guardedApp(t, {}, { logger, routerOptions: { querystringParser } })
  writeRoutes(app)
  sent = await authority.token(CANARY_CLAIMS)
  const headers = { authorization: `Bearer ${sent}` }
  const response = await app.inject({ url: '/query', headers })
  assert.equal(outcome(response), INVALID)
  assertNoLeak([textOf(response), ...raw], sent)
})

test('a leak would be seen', () => {
  const token = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.AAAA'
  assert.throws(() => assertNoLeak([`…${token.slice(5, 21)}…`], token))
  assert.throws(() => assertNoLeak([CANARY_CLAIMS.email], token))
  assertNoLeak([token.slice(5, 20)], token)
})
