import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { type AuthOptions, AuthService } from '../../lib/index.ts'
import { askedApp } from '../helpers/app/asked-app.ts'
import { configError } from '../helpers/app/config-error.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { until } from '../helpers/processes/until.ts'
import { askedServer } from '../helpers/servers/asked-server.ts'

const authority = await createTestAuthority({ issuer: 'https://acme.test', audience: 'lunch' })
const { publicKeys } = authority
const RULES = { audience: 'lunch', tenants: ['acme'], publicKeys }

const nameOf = (serial: number) => `https://${serial}.test`

/** An application that knows every issuer, on a clock that the test moves. */
async function start(
  t: TestContext,
  more: AuthOptions = {},
  answer: (iss: string) => unknown = () => RULES,
) {
  const started = await askedApp(t, 'issuers', answer, more)
  const { app, log } = started
  return {
    ...started,
    /** The warnings of displaced issuers since the last call. */
    warnings() {
      const found = log.lines('issuersMax').map(({ level, msg }) => [level, msg])
      log.raw.length = 0
      return found
    },
    held: () => app.authService.stats().documents.length,
  }
}

const tokens = new Map<string, string>()

/** With a good token of the issuer, the same one each time. */
async function use(app: FastifyInstance, iss: string) {
  const claims = { iss, resources: { acme: [] } }
  const token = tokens.get(iss) ?? (await authority.token(claims, { expiresIn: 36_000 }))
  tokens.set(iss, token)
  return app.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } })
}

const { kid } = JSON.parse(
  Buffer.from((await authority.token()).split('.', 1)[0] ?? '', 'base64url').toString(),
)

/** With a token that nobody has signed. */
async function name(app: FastifyInstance, iss: string, header: object = { kid }) {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const exp = Math.floor(Date.now() / 1000) + 60
  const payload = encode({ iss, aud: 'lunch', sub: 'u', exp })
  const signature = Buffer.alloc(64, 1).toString('base64url')
  const token = `${encode({ alg: 'ES256', ...header })}.${payload}.${signature}`
  return app.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } })
}

test('twelve hundred unsigned tokens that name known issuers displace none that has proved one', async (t) => {
  const { app, asked, held, warnings } = await start(t)
  for (let i = 0; i < 20; i++) assert.equal((await use(app, nameOf(i))).statusCode, 200)
  for (let i = 20; i < 1220; i++) {
    assertRefused(await name(app, nameOf(i)), 'ERR_AUTH_TOKEN_INVALID')
  }
  asked()
  for (let i = 0; i < 20; i++) assert.equal((await use(app, nameOf(i))).statusCode, 200)
  assert.deepEqual([asked(), held(), warnings()], [[], 1000, []])
})

test('where proved issuers hold all places, a new one gets one by its first good token only', async (t) => {
  const { app, asked, held, warnings } = await start(t, { issuersMax: 2 })
  for (const i of [0, 1]) assert.equal((await use(app, nameOf(i))).statusCode, 200)
  for (let i = 2; i < 300; i++) await name(app, nameOf(i))
  asked()
  for (const i of [0, 1]) assert.equal((await use(app, nameOf(i))).statusCode, 200)
  assert.deepEqual([asked(), held(), warnings()], [[], 2, []])
  await use(app, nameOf(0))
  assert.equal((await use(app, nameOf(1000))).statusCode, 200)
  assert.equal((await use(app, nameOf(1000))).statusCode, 200)
  assert.deepEqual([asked(), held()], [[nameOf(1000)], 2])
})

test('an issuer that had to go is logged in one warning a minute, with how many there were', async (t) => {
  const { app, warnings, pass } = await start(t, { issuersMax: 1 })
  const line = (count: number) => [
    40,
    `tenant auth: issuers that had proved a token and had to go: ${count}; a larger issuersMax (now 1) keeps them`,
  ]
  for (const i of [0, 1]) await use(app, nameOf(i))
  assert.deepEqual(warnings(), [line(1)])
  for (const i of [2, 3, 4]) await use(app, nameOf(i))
  pass(59.9)
  assert.deepEqual(warnings(), [])
  pass(0.1)
  assert.deepEqual(warnings(), [line(3)])
  await use(app, nameOf(5))
  pass(59.9)
  assert.deepEqual(warnings(), [])
  pass(0.1)
  assert.deepEqual(warnings(), [line(1)])
  pass(600)
  assert.deepEqual(warnings(), [])
  await use(app, nameOf(6))
  assert.deepEqual(warnings(), [line(1)])
})

test('of proved issuers the one goes that was not used, and it counts as known for an hour', async (t) => {
  const open: ((answer: unknown) => void)[] = []
  let hangs = false
  const { app, pass, asked } = await start(t, { issuersMax: 2 }, () =>
    hangs ? new Promise((resolve) => void open.push(resolve)) : RULES,
  )
  for (const i of [0, 1, 0, 2]) assert.equal((await use(app, nameOf(i))).statusCode, 200)
  asked()
  assert.equal((await use(app, nameOf(0))).statusCode, 200)
  assert.deepEqual(asked(), [], 'the one that was used stays')
  hangs = true
  pass(3599)
  const strangers = Array.from({ length: 16 }, (_, i) => name(app, nameOf(100 + i)))
  await until(() => open.length === 16)
  const displaced = use(app, nameOf(1))
  await until(() => open.length === 17)
  for (const resolve of open) resolve(RULES)
  assert.equal((await displaced).statusCode, 200)
  await Promise.all(strangers)
})

test('an issuer whose keys a request waits for is not displaced', async (t) => {
  const waiting: ServerResponse[] = []
  const server = await askedServer((_request, response) => void waiting.push(response))
  const slow = { ...RULES, publicKeys: undefined, publicKeysUrl: server.url }
  const { publicKeys: _, ...rules } = slow
  const { app, asked } = await start(t, { issuersMax: 3, allowPrivateIssuers: true }, (iss) =>
    iss === nameOf(0) ? rules : RULES,
  )
  const response = use(app, nameOf(0))
  await until(() => waiting.length === 1)
  for (let i = 1; i < 200; i++) await name(app, nameOf(i))
  for (const i of [1000, 1001, 1002]) assert.equal((await use(app, nameOf(i))).statusCode, 200)
  asked()
  waiting[0]?.end(JSON.stringify(publicKeys))
  assert.equal((await response).statusCode, 200)
  assert.equal((await use(app, nameOf(0))).statusCode, 200)
  assert.deepEqual([asked(), server.count], [[], 1])
})

test('an issuer that is named again and again without a proof is asked for, and fetched, once', async (t) => {
  const server = await askedServer((_request, response) => {
    response.end(JSON.stringify(publicKeys))
  })
  const { publicKeys: _, ...rules } = { ...RULES, publicKeysUrl: server.url }
  const { app, asked } = await start(
    t,
    { issuersMax: 1, allowPrivateIssuers: true, keysCooldown: 30 },
    (iss) => (iss === nameOf(0) ? RULES : rules),
  )
  assert.equal((await use(app, nameOf(0))).statusCode, 200)
  for (let i = 0; i < 100; i++) await name(app, nameOf(1))
  assert.deepEqual([asked(), server.count], [[nameOf(0), nameOf(1)], 1])
})

test('after forget() forty issuers in use are all asked for anew, while strangers wait beside them', async (t) => {
  const open: { iss: string; answer(rules: unknown): void }[] = []
  let isSlow = false
  const { app, asked } = await start(t, {}, (iss) =>
    isSlow ? new Promise((resolve) => void open.push({ iss, answer: resolve })) : RULES,
  )
  for (let i = 0; i < 40; i++) assert.equal((await use(app, nameOf(i))).statusCode, 200)
  isSlow = true
  const strangers = Array.from({ length: 1100 }, (_, i) => name(app, nameOf(100 + i)))
  await until(() => open.length === 16)
  app.authService.forget()
  asked()
  const responses = Array.from({ length: 40 }, (_, i) => use(app, nameOf(i)))
  let answered = 16
  while (answered < 56) {
    await until(() => open.length > answered)
    assert.equal(open.length - answered <= 16, true, 'sixteen places')
    for (const { answer } of open.slice(answered)) answer(RULES)
    answered = open.length
  }
  for (const { statusCode } of await Promise.all(responses)) assert.equal(statusCode, 200)
  assert.equal(new Set(asked()).size, 40)
  isSlow = false
  for (const { answer } of open) answer(null)
  await Promise.all(strangers)
})

test('a fresh process that a thousand issuers ask at once answers them all', async (t) => {
  const { app } = await start(t, {}, async () => {
    await new Promise(setImmediate)
    return RULES
  })
  const responses = await Promise.all(Array.from({ length: 1000 }, (_, i) => use(app, nameOf(i))))
  assert.deepEqual([...new Set(responses.map(({ statusCode }) => statusCode))], [200])
})

test('an issuer that nobody uses is not refreshed', async (t) => {
  const server = await askedServer((_request, response) => {
    response.end(JSON.stringify(publicKeys))
  })
  const { publicKeys: _, ...rules } = { ...RULES, publicKeysUrl: server.url }
  const { app, asked, pass } = await start(t, { allowPrivateIssuers: true }, () => rules)
  for (const i of [0, 1]) assert.equal((await use(app, nameOf(i))).statusCode, 200)
  await name(app, nameOf(2))
  asked()
  const fetches = server.count
  for (let minutes = 0; minutes < 120; minutes++) pass(60)
  assert.deepEqual([asked(), server.count], [[], fetches])
})

test('an issuer whose answer has changed keeps its place', async (t) => {
  let tenants = ['acme']
  const { app, asked } = await start(t, { issuersMax: 2 }, () => ({ ...RULES, tenants }))
  assert.equal((await use(app, nameOf(0))).statusCode, 200)
  tenants = ['acme', 'b']
  app.authService.forget()
  await name(app, nameOf(0))
  for (let i = 1; i < 200; i++) await name(app, nameOf(i))
  asked()
  assert.equal((await use(app, nameOf(0))).statusCode, 200)
  assert.deepEqual(asked(), [])
})

const service = (options: object) => () => new AuthService(options)

test('issuersMax stops the boot where no function is asked for issuers', () => {
  const rules = authority.issuerRules({ tenants: '*' })
  for (const options of [{ issuers: [rules] }, { issuer: 'https://a.test' }, {}]) {
    const expected = configError('issuersMax', 'a function in issuers beside it')
    assert.throws(service({ ...options, issuersMax: 10 }), expected)
  }
})
