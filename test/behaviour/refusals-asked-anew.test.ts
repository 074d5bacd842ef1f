import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import tenantAuth, { type AuthOptions, type Resources, type TokenUser } from '../../lib/index.ts'
import { authority, bareApp, trusting, untyped } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'

type Answer = object | null | Promise<object | null>

async function start(t: TestContext, answer: (user: TokenUser) => Answer, more: AuthOptions = {}) {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: Date.now() })
  const asked: string[] = []
  const resourcesOf = (user: TokenUser) => {
    asked.push(user.sub)
    return answer(user)
  }
  const app = bareApp(t)
  const options = untyped({ resourcesOf, ...more })
  await app.register(tenantAuth, options.issuers === undefined ? trusting(options) : options)
  app.get('/t/:tenant', async () => 'ok')
  app.get('/needs/:tenant', { config: { require: 'menu:read' } }, async () => 'ok')
  const by = { by: () => 'menu:read', among: ['menu:read'] }
  app.get('/by/:tenant', { config: { require: by } }, async () => 'ok')
  app.get('/any', { config: { require: { any: ['menu:read', 'a:b'] } } }, async () => 'ok')
  app.get('/guests/:tenant', { config: { guests: true, userInfo: true } }, async ({ userInfo }) =>
    userInfo === null ? 'guest' : 'user',
  )
  app.get('/has/:tenant', { config: { authorization: true } }, async ({ authorization }) =>
    authorization.has('menu:read'),
  )
  app.get('/in/:tenant', { config: { authorization: true } }, async ({ authorization }) =>
    authorization.in('other') ? 'in' : '',
  )
  app.get('/requires/:tenant', { config: { authorization: true } }, async ({ authorization }) => {
    authorization.require('menu:read')
    return 'ok'
  })
  const headers = await authority.headers({ sub: 'alice' }, { expiresIn: 3600 })
  const get = async (url: string) => app.inject({ url, headers })
  const pass = (seconds: number) => t.mock.timers.tick(seconds * 1000)
  return { app, get, pass, asked: () => asked.splice(0).length }
}

const FORBIDDEN = '403 ERR_AUTH_TENANT_FORBIDDEN'
const MISSING = '403 ERR_AUTH_RESOURCE_MISSING'

const GAINED: [what: string, url: string, before: object, after: object, refused: string][] = [
  ['a tenant', '/t/acme', {}, { acme: [] }, FORBIDDEN],
  ['a right', '/needs/acme', { acme: [] }, { acme: ['menu:read'] }, MISSING],
  ['a tenant and a right at once', '/needs/acme', {}, { acme: ['menu:read'] }, FORBIDDEN],
  ['one of several rights', '/any', {}, { '*': ['a:b'] }, MISSING],
  ['a right by the request', '/by/acme', { acme: [] }, { acme: ['menu:read'] }, MISSING],
]

for (const [what, url, before, after, refused] of GAINED) {
  test(`${what} that came counts as soon as a refusal would be two seconds old`, async (t) => {
    let answer = before
    const { get, pass, asked } = await start(t, async () => answer)
    assert.equal(outcome(await get(url)), refused)
    answer = after
    pass(1.999)
    assert.equal(outcome(await get(url)), refused)
    assert.equal(asked(), 1)
    pass(0.001)
    for (const _ of [1, 2]) assert.equal(outcome(await get(url)), '200')
    assert.equal(asked(), 1)
    pass(29.999)
    assert.equal(outcome(await get(url)), '200')
    assert.equal(asked(), 0, 'its answer counts for resourcesMaxAge from then')
    pass(0.001)
    assert.equal(outcome(await get(url)), '200')
    assert.equal(asked(), 1)
  })
}

const OLD_ANSWERS: readonly [what: string, options: object][] = [
  ['opaqueToken', { opaqueMaxAge: 0, opaqueToken: () => ({ ...claims, sub: 'alice' }) }],
  ['issuers', { issuersMaxAge: 0, issuers: () => authority.issuerRules({ tenants: '*' }) }],
]
const { issuer: iss, audience: aud } = authority
const claims = { iss, aud }

for (const [what, options] of OLD_ANSWERS) {
  test(`a right that came counts though the answer of ${what} grew old while it was asked for`, async (t) => {
    let answer: object = {}
    const later = async () => {
      await new Promise(setImmediate)
      // `issuersMaxAge` is a second at least.
      t.mock.timers.tick(1500)
      return answer
    }
    const { app, get, pass } = await start(t, later, untyped(options))
    const headers = { authorization: 'Bearer opaque-token' }
    const ask = async () =>
      what === 'issuers' ? get('/t/acme') : app.inject({ url: '/t/acme', headers })
    assert.equal(outcome(await ask()), FORBIDDEN)
    answer = { acme: [] }
    pass(2)
    assert.equal(outcome(await ask()), '200')
  })
}

/** A function that answers after some time, by what it read at first. */
function slowly(t: TestContext, seconds: number) {
  const database = { rights: {} }
  const answer = async () => {
    const { rights } = database
    await new Promise(setImmediate)
    t.mock.timers.tick(seconds * 1000)
    return rights
  }
  return { database, answer }
}

test('a refusal is as old as its question', async (t) => {
  const { database, answer } = slowly(t, 1.5)
  const { get, pass } = await start(t, answer)
  assert.equal(outcome(await get('/t/acme')), FORBIDDEN)
  database.rights = { acme: [] }
  pass(0.499)
  assert.equal(outcome(await get('/t/acme')), FORBIDDEN)
  pass(0.001)
  assert.equal(outcome(await get('/t/acme')), '200')
})

test('an answer that takes two seconds is not asked for anew before it is two seconds old', async (t) => {
  const { answer } = slowly(t, 2)
  const { get, pass, asked } = await start(t, answer)
  assert.equal(outcome(await get('/t/acme')), FORBIDDEN)
  pass(1.999)
  assert.equal(outcome(await get('/t/acme')), FORBIDDEN)
  assert.equal(asked(), 1)
  pass(0.001)
  assert.equal(outcome(await get('/t/acme')), FORBIDDEN)
  assert.equal(asked(), 1)
})

test('a tenant without the right is asked for once, and refused by the last answer', async (t) => {
  let answer: object = {}
  const { get, pass } = await start(t, () => answer)
  assert.equal(outcome(await get('/needs/acme')), FORBIDDEN)
  answer = { acme: [] }
  pass(2)
  assert.equal(outcome(await get('/needs/acme')), MISSING)
})

test('a hammering stranger asks once in two seconds, and what admits asks nothing', async (t) => {
  const { get, pass, asked } = await start(t, async () => ({ acme: [] }))
  for (let tenth = 0; tenth < 200; tenth++) {
    assert.equal(outcome(await get(`/t/other-${tenth}`)), FORBIDDEN)
    assert.equal(outcome(await get('/t/acme')), '200')
    pass(0.1)
  }
  assert.equal(asked(), 10)
})

test('two tokens of a user, and callers without a request, hammer as one', async (t) => {
  const { app, pass, asked } = await start(t, async () => ({ acme: [] }))
  const each = await Promise.all(
    ['a', 'b'].map((jti) => authority.token({ sub: 'alice', jti }, { expiresIn: 3600 })),
  )
  for (let half = 0; half < 20; half++) {
    for (const token of each) {
      const headers = { authorization: `Bearer ${token}` }
      assert.equal(outcome(await app.inject({ url: '/t/other', headers })), FORBIDDEN)
      const call = app.authService.authenticate({ token, tenant: 'other' })
      await assert.rejects(call, { code: 'ERR_AUTH_TENANT_FORBIDDEN' })
    }
    pass(0.5)
  }
  assert.equal(asked(), 5)
})

test('requests together ask once, and each is decided again', async (t) => {
  let answer: object = {}
  const { get, pass, asked } = await start(t, async () => answer)
  assert.equal(outcome(await get('/t/acme')), FORBIDDEN)
  answer = { acme: [] }
  pass(2)
  const urls = ['/t/acme', '/needs/acme', '/t/acme', '/guests/acme']
  const answers = await Promise.all(urls.map((url) => get(url)))
  assert.deepEqual(answers.map(outcome), ['200', MISSING, '200', '200'])
  assert.equal(asked(), 2)
})

const FAILING: [how: string, answer: () => Answer][] = [
  ['throws', () => assert.fail('no database')],
  ['rejects', () => Promise.reject(new Error('no database'))],
  ['answers what is no answer', () => [] as object],
]

for (const [how, failing] of FAILING) {
  test(`where the function ${how} the refusal stands for two seconds, and rights stay`, async (t) => {
    let answer = (): Answer => ({ acme: [] })
    const { get, pass, asked } = await start(t, () => answer())
    assert.equal(outcome(await get('/t/acme')), '200')
    answer = failing
    for (const wait of [2, 1.999, 0.001, 1.999, 0.001]) {
      pass(wait)
      for (const _ of [1, 2]) assert.equal(outcome(await get('/needs/acme')), MISSING)
      assert.equal(outcome(await get('/t/acme')), '200')
    }
    assert.equal(asked(), 1 + 3)
    answer = () => ({ acme: ['menu:read'] })
    pass(2)
    assert.equal(outcome(await get('/needs/acme')), '200')
  })
}

test('where the function hangs the refusal stands after tenantsTimeout, for those together', async (t) => {
  let hangs = false
  const never = new Promise<object>(() => {})
  const { get, pass, asked } = await start(t, () => (hangs ? never : { acme: [] }))
  assert.equal(outcome(await get('/t/acme')), '200')
  hangs = true
  pass(2)
  const waiting = [get('/needs/acme'), get('/t/other')]
  for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate)
  assert.equal(outcome(await get('/t/acme')), '200', 'the admitted do not wait')
  pass(5)
  assert.deepEqual((await Promise.all(waiting)).map(outcome), [MISSING, FORBIDDEN])
  assert.equal(outcome(await get('/needs/acme')), MISSING)
  assert.equal(asked(), 2)
})

test('it waits in the line as any question, and the refusal stands where that is full', async (t) => {
  let hangs = false
  const never = new Promise<object>(() => {})
  const { app, get, pass, asked } = await start(t, () => (hangs ? never : { acme: [] }))
  assert.equal(outcome(await get('/t/acme')), '200')
  hangs = true
  pass(2)
  const tokens = Array.from({ length: 1064 }, (_, at) => authority.headers({ sub: `user-${at}` }))
  const others = (await Promise.all(tokens)).map(async (headers) =>
    app.inject({ url: '/t/acme', headers }),
  )
  for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate)
  assert.equal(outcome(await get('/needs/acme')), MISSING)
  assert.equal(asked(), 1 + 64)
  for (const _ of [1, 2]) {
    pass(5)
    for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate)
  }
  await Promise.all(others)
})

test('has, require and in of handlers ask nothing', async (t) => {
  let answer: object = { acme: [] }
  const { get, pass, asked } = await start(t, () => answer)
  assert.equal((await get('/has/acme')).body, 'false')
  answer = { acme: ['menu:read'], other: [] }
  pass(10)
  assert.equal((await get('/has/acme')).body, 'false')
  assert.equal(outcome(await get('/requires/acme')), MISSING)
  assert.equal(outcome(await get('/in/acme')), FORBIDDEN)
  assert.equal(asked(), 1)
})

test('a route for guests asks too, and a user without the tenant is a guest', async (t) => {
  let answer: object = {}
  const { get, pass, asked } = await start(t, async () => answer)
  assert.equal((await get('/guests/acme')).body, 'guest')
  pass(2)
  assert.equal((await get('/guests/acme')).body, 'guest')
  answer = { acme: [] }
  pass(2)
  assert.equal((await get('/guests/acme')).body, 'user')
  assert.equal(asked(), 3)
})

test('a late route asks too', async (t) => {
  let answer: object = { acme: [] }
  const resolveTenant = () => 'acme'
  const { app, get, pass } = await start(t, async () => answer, { resolveTenant })
  const config = { tenant: true, late: true, require: 'menu:read' } as const
  app.get('/late', { config }, async () => 'ok')
  assert.equal(outcome(await get('/late')), MISSING)
  answer = { acme: ['menu:read'] }
  pass(2)
  assert.equal(outcome(await get('/late')), '200')
})

test('isRevoked is not asked a second time', async (t) => {
  let answer: object = {}
  const isRevoked = t.mock.fn(() => false)
  const { get, pass } = await start(t, () => answer, { isRevoked })
  assert.equal(outcome(await get('/t/acme')), FORBIDDEN)
  answer = { acme: [] }
  pass(2)
  assert.equal(outcome(await get('/t/acme')), '200')
  assert.equal(isRevoked.mock.callCount(), 2)
})

test('a request asks anew once, however long tenants take and whatever by says', async (t) => {
  const tenants = () => new Promise<boolean>((resolve) => void setTimeout(resolve, 4000, true))
  const { get, pass, asked } = await start(t, () => ({ acme: [] }), { tenants, tenantsMaxAge: 0 })
  const slow = async (url: string) => {
    const answer = get(url)
    for (let second = 0; second < 20; second++) {
      for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate)
      pass(1)
    }
    return answer
  }
  assert.equal(outcome(await slow('/needs/acme')), MISSING)
  assert.equal(asked(), 2)
})

test('rights that were taken away in the meantime count too', async (t) => {
  let answer: object = { acme: [] }
  const { get, pass } = await start(t, () => answer)
  assert.equal(outcome(await get('/t/acme')), '200')
  answer = {}
  pass(2)
  assert.equal(outcome(await get('/t/acme')), '200', 'kept')
  assert.equal(outcome(await get('/needs/acme')), FORBIDDEN)
  assert.equal(outcome(await get('/t/acme')), FORBIDDEN)
})

test('a user that is not known is asked for when that is two seconds old', async (t) => {
  let answer: object | null = null
  const { get, pass, asked } = await start(t, () => answer)
  assert.equal(outcome(await get('/t/acme')), FORBIDDEN)
  answer = { acme: [] }
  pass(1.999)
  assert.equal(outcome(await get('/t/acme')), FORBIDDEN)
  pass(0.001)
  assert.equal(outcome(await get('/t/acme')), '200')
  assert.equal(asked(), 2)
})

test('an application that closes leaves the refusal standing, and waits for no answer', async (t) => {
  let hangs = false
  const never = new Promise<object>(() => {})
  const { app, get, pass } = await start(t, () => (hangs ? never : { acme: [] }))
  assert.equal(outcome(await get('/t/acme')), '200')
  hangs = true
  pass(2)
  const waiting = get('/needs/acme')
  for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate)
  await app.close()
  assert.equal(outcome(await waiting), MISSING)
})

test('rights of the token, and the mock user, ask nothing', async (t) => {
  const app = bareApp(t)
  await app.register(tenantAuth, { devMode: true, resourcesOf: () => assert.fail('not asked') })
  app.get('/:tenant', async () => 'ok')
  assert.equal(outcome(await app.inject('/elsewhere')), FORBIDDEN)
})

test('a pin that changes while rights are asked for anew lets nobody in by the old one', async (t) => {
  holdTime(t, { apis: ['Date'], now: Date.now() })
  const { issuer, audience, publicKeys } = authority
  let tenants = ['acme']
  let answer: Resources | Promise<Resources> = { acme: [] }
  const app = bareApp(t)
  await app.register(tenantAuth, {
    issuers: () => ({ tenants, audience, publicKeys }),
    resourcesOf: () => answer,
  })
  app.get('/needs/:tenant', { config: { require: 'menu:read' } }, async () => 'ok')
  const headers = await authority.headers({ sub: 'alice' }, { expiresIn: 3600 })
  const get = async () => app.inject({ url: '/needs/acme', headers })
  assert.equal(outcome(await get()), MISSING)
  t.mock.timers.tick(2000)
  let give = (_rights: Resources): void => assert.fail('nothing was asked')
  answer = new Promise((resolve) => {
    give = resolve
  })
  const waiting = get()
  for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate)
  tenants = ['elsewhere']
  answer = { acme: ['menu:read'] }
  app.authService.forget({ issuer })
  assert.equal(outcome(await get()), FORBIDDEN)
  give({ acme: ['menu:read'] })
  assert.equal(outcome(await waiting), FORBIDDEN)
})
