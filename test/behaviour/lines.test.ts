import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { AuthService } from '../../lib/index.ts'
import { authority, bareApp, trusting, untyped } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'

const other = await createTestAuthority({ issuer: 'https://other.test' })
const RIGHTS = { acme: [] }
const { issuer: iss, audience: aud } = authority
const tokens = await Promise.all(
  Array.from({ length: 1070 }, (_, at) =>
    authority.token({ sub: `user-${at}`, resources: RIGHTS }),
  ),
)
const ofOther = await Promise.all(
  Array.from({ length: 1070 }, (_, at) => other.token({ sub: `user-${at}` })),
)
const named = await Promise.all(
  Array.from({ length: 1070 }, (_, at) =>
    authority.token({ iss: `https://${at}.test`, resources: RIGHTS }),
  ),
)

type Ask = (about: unknown) => Promise<unknown>

interface Asked {
  readonly places: number
  readonly code: string
  options(ask: Ask): object
  token(at: number): string
  /** An answer with which a request is admitted. */
  readonly answer: (about: unknown) => unknown
}

const rules = authority.issuerRules({ tenants: '*' })

/** Each function that has a line. */
const ASKED: [name: string, asked: Asked][] = [
  [
    'issuers',
    {
      places: 16,
      code: 'ERR_AUTH_ISSUERS_UNAVAILABLE',
      options: (ask) => ({ issuers: ask }),
      token: (at) => named[at] ?? '',
      answer: (name) => ({ ...rules, issuer: String(name) }),
    },
  ],
  [
    'resourcesOf',
    {
      places: 64,
      code: 'ERR_AUTH_RESOURCES_UNAVAILABLE',
      options: (ask) => trusting(untyped({ resourcesOf: ask })),
      token: (at) => tokens[at] ?? '',
      answer: () => RIGHTS,
    },
  ],
  [
    'resourcesOf of an issuer',
    {
      places: 64,
      code: 'ERR_AUTH_RESOURCES_UNAVAILABLE',
      options: (ask) => ({
        audience: aud,
        issuers: [rules, { ...other.issuerRules({ tenants: '*' }), resourcesOf: ask }],
      }),
      token: (at) => ofOther[at] ?? '',
      answer: () => RIGHTS,
    },
  ],
  [
    'opaqueToken',
    {
      places: 64,
      code: 'ERR_AUTH_INTROSPECTION_UNAVAILABLE',
      options: (ask) => trusting(untyped({ opaqueToken: ask })),
      token: (at) => `key-${at}`,
      answer: (key) => ({ iss, aud, sub: String(key), resources: RIGHTS }),
    },
  ],
  [
    'one of checks',
    {
      places: 64,
      code: 'ERR_AUTH_CHECK_UNAVAILABLE',
      options: (ask) => trusting(untyped({ checks: { owner: ask } })),
      token: (at) => tokens[at] ?? '',
      answer: () => true,
    },
  ],
]

async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate)
}

async function start(t: TestContext, { options, answer }: Asked) {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: Date.now() })
  const log = logLines()
  const open: (() => void)[] = []
  const ask = (about: unknown) =>
    new Promise((resolve) => void open.push(() => resolve(answer(about))))
  const given = options(ask)
  const app: FastifyInstance = bareApp(t, { logger: log.logger })
  await app.register(tenantAuth, untyped(given))
  const check = 'checks' in given ? { check: 'owner' } : {}
  app.get('/t/:tenant', { config: check }, async () => 'ok')
  await app.ready()
  const get = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return app.inject({ url: '/t/acme', headers })
  }
  const reasons = () => log.lines('request refused').map(({ reason }) => String(reason))
  return { app, get, open, reasons, pass: (seconds: number) => t.mock.timers.tick(seconds * 1000) }
}

for (const [name, asked] of ASKED) {
  const { places, code, token } = asked
  const refused = `503 ${code}`

  test(`${name}: a thousand wait in a line, and the next one is refused with the reason`, async (t) => {
    const { get, open, pass, reasons } = await start(t, asked)
    const waiting = Array.from({ length: places + 1000 }, (_, at) => get(token(at)))
    await settled()
    assert.equal(open.length, places)
    const next = await get(token(places + 1000))
    assert.deepEqual([outcome(next), next.headers['retry-after']], [refused, '1'])
    assert.match(reasons()[0] ?? '', /was not asked: its line is full$/)
    pass(4)
    for (const answer of open.splice(0, 1)) answer()
    await settled()
    assert.equal(open.length, places, 'the next of the line has its place')
    pass(1)
    await settled()
    const endings = [...new Set(reasons())].map((reason) => reason.split(' ').slice(-4).join(' '))
    assert.equal(endings.includes('no place in time'), true, endings.join())
    pass(5)
    await settled()
    const answers = (await Promise.all(waiting)).map(outcome)
    assert.deepEqual([...new Set(answers)].sort(), ['200', refused])
  })

  test(`${name}: first come is first served, with tenantsTimeout for the answer from its place on`, async (t) => {
    const { get, open, pass } = await start(t, asked)
    const done: number[] = []
    const waiting = Array.from({ length: places + 3 }, async (_, at) => {
      const response = await get(token(at))
      done.push(at)
      return outcome(response)
    })
    await settled()
    pass(4.9)
    for (const answer of open.splice(0)) answer()
    await settled()
    assert.equal(open.length, 3)
    pass(4.9)
    for (const answer of open.splice(0)) answer()
    assert.deepEqual([...new Set(await Promise.all(waiting))], ['200'])
    const found = done.slice(-3).sort((a, b) => a - b)
    assert.deepEqual(found, [places, places + 1, places + 2])
  })

  test(`${name}: after the application has closed nothing in the line is asked`, async (t) => {
    const { app, get, open } = await start(t, asked)
    const waiting = Array.from({ length: places + 3 }, (_, at) => get(token(at)))
    await settled()
    const close = app.close()
    await settled()
    for (const answer of open) answer()
    const answers = await Promise.all(waiting)
    assert.equal(open.length, places)
    assert.deepEqual([...new Set(answers.slice(places).map(outcome))], [refused])
    await close
  })

  test(`${name}: is asked again when the service is installed again`, async (t) => {
    const ask: Ask = async (about) => asked.answer(about)
    const service = new AuthService(untyped(asked.options(ask)))
    for (const at of [0, 1]) {
      const app = bareApp(t)
      await service.install(app)
      app.get('/', { config: name === 'one of checks' ? { check: 'owner' } : {} }, async () => 'ok')
      const headers = { authorization: `Bearer ${token(at)}` }
      assert.equal(outcome(await app.inject({ url: '/', headers })), '200')
      await app.close()
    }
  })
}

test('requests for one key share a question and a place', async (t) => {
  for (const [name, asked] of ASKED.filter(([name]) => name !== 'one of checks')) {
    const { get, open } = await start(t, asked)
    const together = Array.from({ length: 100 }, () => get(asked.token(0)))
    await settled()
    assert.equal(open.length, 1, name)
    open[0]?.()
    assert.equal(new Set((await Promise.all(together)).map(outcome)).size, 1)
    t.mock.timers.reset()
  }
})
