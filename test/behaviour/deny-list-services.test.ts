import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type DenyEntry, type DenyList, denyList } from '../../lib/entrypoints/revocation/index.ts'
import { type AuthOptions, AuthService } from '../../lib/index.ts'
import { authority, bareApp, guardedApp } from '../helpers/app/guarded-app.ts'
import { EntryLog } from '../helpers/servers/entry-log.ts'
import {
  ISSUER_A,
  SECOND,
  settled,
  stopClocks,
  tokenOf,
  verdictOf,
} from '../helpers/tokens/denied.ts'

const { publicKeys } = authority
const ISSUER_B = 'https://b.example.com'

const listed = (issuer: string) => ({ issuer, publicKeys, audience: 'api', tenants: '*' }) as const
const single = (issuer: string) => ({ issuer, publicKeys })

/** Installs a service of the list with each of the options. */
async function serve(t: TestContext, isRevoked: DenyList, ...all: readonly AuthOptions[]) {
  for (const options of all) {
    await new AuthService({ ...options, isRevoked }).install(bareApp(t))
  }
}

const SEVERAL: [what: string, ...services: AuthOptions[]][] = [
  ['two in issuers', { issuers: [listed(ISSUER_A), listed(ISSUER_B)] }],
  ['two values of issuer', { issuer: [ISSUER_A, ISSUER_B], publicKeys }],
  ['a function in issuers', { issuers: () => null }],
  ['one in each of two services', single(ISSUER_A), { issuers: [listed(ISSUER_B)] }],
  ['one, beside a service that checks no issuer', single(ISSUER_A), { publicKeys }],
  [
    'several in one of two services',
    single(ISSUER_A),
    { issuers: [listed(ISSUER_A), listed(ISSUER_B)] },
  ],
]

const ONE: [what: string, ...services: AuthOptions[]][] = [
  ['one issuer', single(ISSUER_A)],
  ['a list of one', { issuers: [listed(ISSUER_A)] }],
  ['no issuer that is checked', { publicKeys }],
  ['the same in two services', single(ISSUER_A), { issuers: [listed(ISSUER_A)] }],
  ['dev mode beside it', single(ISSUER_A), { devMode: true, issuer: ISSUER_B }],
  ['no service yet'],
]

const AMBIGUOUS: DenyEntry[] = [{ sub: 'alice' }, { sid: 'session-1' }, { jti: 'a', sub: 'alice' }]

for (const [what, ...services] of SEVERAL) {
  test(`with ${what}, add wants the issuer of a sub and of a sid`, async (t) => {
    const log = new EntryLog()
    const list = denyList({ changes: log.changes, append: log.append })
    await serve(t, list, ...services)
    for (const entry of AMBIGUOUS) {
      await assert.rejects(list.add(entry), (error: Error) => {
        assert.equal(error instanceof TypeError, true, `no TypeError: ${error}`)
        assert.match(error.message, /^sub and sid of an entry need issuer: several issuers/)
        return true
      })
    }
    assert.deepEqual([list.size(), log.entries.length], [0, 0])
    for (const entry of AMBIGUOUS) await list.add({ ...entry, issuer: ISSUER_A })
    await list.add({ jti: 'token-2' })
    await list.add({ issuer: ISSUER_B })
    assert.equal(log.entries.length, 5)
  })
}

for (const [what, ...services] of ONE) {
  test(`with ${what}, add takes a sub and a sid alone`, async (t) => {
    const list = denyList()
    await serve(t, list, ...services)
    for (const entry of AMBIGUOUS) await list.add(entry)
    assert.equal(list.size(), 3)
  })
}

test('an entry without an issuer counts where several are accepted, if it is there', async (t) => {
  const log = new EntryLog()
  const list = denyList({ changes: log.changes, append: log.append })
  await list.add({ sub: 'early' })
  log.entries.push({ sub: 'alice', until: new Date(Date.now() + 60_000) })
  await serve(t, list, { issuers: [listed(ISSUER_A), listed(ISSUER_B)] })
  await list.ready()
  for (const sub of ['early', 'alice']) {
    for (const issuer of [ISSUER_A, ISSUER_B]) {
      assert.equal(verdictOf(list, tokenOf({ sub, issuer })), true, `${sub} of ${issuer}`)
    }
  }
  assert.equal(verdictOf(list, tokenOf({ sub: 'bob' })), false)
})

test('what services that have all ended accepted is forgotten, and no earlier', async (t) => {
  const list = denyList()
  const [first, second] = [bareApp(t), bareApp(t)]
  for (const [app, issuer] of [
    [first, ISSUER_A],
    [second, ISSUER_B],
  ] as const) {
    await new AuthService({ ...single(issuer), isRevoked: list }).install(app)
  }
  await first.close()
  await assert.rejects(list.add({ sub: 'alice' }), TypeError)
  await second.close()
  await list.add({ sub: 'alice' })
  await serve(t, list, { issuers: () => null })
  await assert.rejects(list.add({ sub: 'bob' }), TypeError)
})

const NOT_ACCEPTED: [what: string, accepted: readonly AuthOptions[], issuer: string][] = [
  ['with a slash too many', [single(ISSUER_A)], `${ISSUER_A}/`],
  ['of nobody', [{ issuers: [listed(ISSUER_A), listed(ISSUER_B)] }], 'https://c.example.com'],
  ['of no service', [single(ISSUER_A), single(ISSUER_B)], ISSUER_A.toUpperCase()],
]

for (const [what, services, issuer] of NOT_ACCEPTED) {
  test(`add refuses an issuer ${what}, which would revoke nothing`, async (t) => {
    const log = new EntryLog()
    const list = denyList({ changes: log.changes, append: log.append })
    await list.add({ issuer, jti: 'early' })
    await serve(t, list, ...services)
    for (const entry of [{ issuer }, { issuer, sub: 'alice' }]) {
      await assert.rejects(
        list.add(entry),
        /^TypeError: issuer of an entry must be one that is acc/,
      )
    }
    await list.add({ issuer: ISSUER_A, sub: 'alice' })
    await list.add({ issuer: null, sub: 'alice' })
    log.entries.push({ issuer, sub: 'bob' })
    await list.ready()
    assert.equal(verdictOf(list, tokenOf({ issuer, sub: 'bob' })), true, 'of a store it is taken')
  })
}

const ANY_ISSUER: [what: string, accepted: AuthOptions][] = [
  ['a function names the issuers', { issuers: () => null }],
  ['no issuer is checked', { publicKeys }],
]

for (const [what, accepted] of ANY_ISSUER) {
  test(`where ${what}, add takes any issuer`, async (t) => {
    const list = denyList()
    await serve(t, list, single(ISSUER_A), accepted)
    await list.add({ issuer: 'https://c.example.com', sub: 'alice' })
  })
}

/** A list on clocks that the test moves, and whether it goes on asking for changes. */
function watched(t: TestContext) {
  const { pass } = stopClocks(t)
  const log = new EntryLog()
  const list = denyList({ changes: log.changes, interval: 5 })
  const goesOn = async () => {
    const asked = log.asked.length
    await pass(6 * SECOND)
    return log.asked.length > asked
  }
  return { goesOn, service: new AuthService({ ...single(ISSUER_A), isRevoked: list }), list }
}

test('a service in two applications ends its list with the last of them', async (t) => {
  const { goesOn, service } = watched(t)
  const [first, second] = [bareApp(t), bareApp(t)]
  for (const app of [first, second]) await service.install(app)
  assert.equal(await goesOn(), true)
  await first.close()
  assert.equal(await goesOn(), true)
  await second.close()
  assert.equal(await goesOn(), false)
})

test('a service that is closed twice ends its list once, for the next one to begin it', async (t) => {
  const { goesOn, service, list } = watched(t)
  const app = bareApp(t)
  await service.install(app)
  service.close()
  assert.equal(await goesOn(), false)
  await app.close()
  await serve(t, list, single(ISSUER_A))
  assert.equal(await goesOn(), true)
})

test('an entry outlasts the tolerance of each service that has the list', async (t) => {
  const clocks = stopClocks(t)
  const list = denyList({ maxLifetime: 3600 })
  await serve(t, list, { ...single(ISSUER_A), clockTolerance: 5000 }, single(ISSUER_A))
  await list.add({ sub: 'alice' })
  const life = { issuedAt: new Date(Date.now() + 5000 * SECOND), expiresAt: null }
  const token = tokenOf({ ...life, expiresAt: new Date(Date.now() + 8600 * SECOND) })
  await clocks.pass(13_500 * SECOND, 500 * SECOND)
  assert.equal(verdictOf(list, token), true)
  await clocks.pass(200 * SECOND, 100 * SECOND)
  assert.equal(verdictOf(list, token), false)
})

test('a list of two applications of one service ends when both have begun to close', async (t) => {
  const log = new EntryLog()
  const list = denyList({ changes: log.changes, interval: 1 })
  const service = new AuthService({ ...single(ISSUER_A), isRevoked: list })
  const apps = [bareApp(t), bareApp(t)]
  for (const app of apps) await service.install(app)
  await apps[0]?.close()
  await list.ready()
  const asked = log.asked.length
  await apps[1]?.close()
  list.wake()
  await settled()
  assert.equal(log.asked.length, asked)
})

test('in dev mode a logout route adds the entry of its user, and the mock user comes again', async (t) => {
  const revoked = denyList()
  const app = await guardedApp(t, { devMode: true, isRevoked: revoked })
  app.post('/logout', { config: { authorization: true } }, async ({ authorization }, reply) => {
    const { issuer, userInfo } = authorization
    await revoked.add({ sub: userInfo.sub, issuer, issuedBefore: new Date() })
    return reply.code(204).send()
  })
  for (let i = 0; i < 2; i++) {
    assert.equal((await app.inject({ method: 'POST', url: '/logout' })).statusCode, 204)
    assert.equal(revoked.size(), 1)
  }
})
