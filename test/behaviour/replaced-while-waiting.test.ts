import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type Authorization } from '../../lib/index.ts'
import { authority, bareApp, untyped } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { until } from '../helpers/processes/until.ts'
import { askedServer } from '../helpers/servers/asked-server.ts'

const { issuer, audience, publicKeys } = authority
const RULES = { audience, publicKeys, tenants: ['acme', 'globex'] }
const RIGHTS = { acme: [], globex: [] }

/** A function whose first answer comes when the test says so, and all others at once. */
function slowOnce(answer: unknown) {
  let release: (() => void) | undefined
  const answered = new Promise<void>((resolve) => {
    release = resolve
  })
  let asked = 0
  return {
    ask: async () => {
      asked += 1
      if (asked === 1) await answered
      return answer
    },
    isAsked: () => until(() => asked > 0),
    answer: () => release?.(),
  }
}

/** An application whose issuer the test answers for. */
async function start(
  t: TestContext,
  options: object,
  preValidation = async () => {},
  row: unknown = RULES,
) {
  const app = bareApp(t)
  let current = row
  const issuers = () => current
  await app.register(tenantAuth, untyped({ issuers, allowPrivateIssuers: true, ...options }))
  app.get('/t/:tenant', async () => 'ok')
  app.get('/guests/:tenant', { config: { guests: true } }, async () => 'ok')
  app.get('/slow/:tenant', { preValidation }, async () => 'ok')
  app.get('/t', { config: { tenant: true } }, async () => 'ok')
  if ('checks' in options) {
    app.get('/checked/:tenant', { config: { check: 'slow' } }, async () => 'ok')
  }
  await app.ready()
  const get = async (url: string, sub = 'alice') => {
    const headers = await authority.headers({ sub, resources: RIGHTS })
    return outcome(await app.inject({ url, headers }))
  }
  return {
    app,
    get,
    /** From now on it is this one, and a request has found that out. */
    async replaceIssuer(by: unknown): Promise<void> {
      current = by
      app.authService.forget({ issuer })
      await get('/t/acme', 'bob')
    },
  }
}

/** An application with the key server of an authority of its own. */
async function withOwnServer(t: TestContext, options: object) {
  const own = await createTestAuthority()
  t.after(() => own.close())
  const { publicKeys: _, ...claims } = own.options
  const app = bareApp(t)
  const all = { ...claims, publicKeysUrl: await own.listen(), ...options }
  await app.register(tenantAuth, untyped(all))
  return { own, app }
}

/** What a request may wait for after its token is verified. */
const WAITS: readonly [
  what: string,
  answer: unknown,
  url: string,
  options: (ask: unknown) => object,
][] = [
  ['resourcesOf', RIGHTS, '/t/globex', (ask) => ({ resourcesOf: ask })],
  ['tenants', true, '/t/globex', (ask) => ({ tenants: ask })],
  ['isRevoked', false, '/t/globex', (ask) => ({ isRevoked: ask })],
  ['resolveTenant', 'globex', '/t', (ask) => ({ resolveTenant: ask })],
  ['checks', true, '/checked/globex', (ask) => ({ checks: { slow: ask } })],
]

const CHANGES: readonly [what: string, answer: unknown, expected: string][] = [
  ['is gone', null, '401 ERR_AUTH_TOKEN_INVALID'],
  ['cannot be used', { ...RULES, tenants: [] }, '503 ERR_AUTH_ISSUERS_UNAVAILABLE'],
  ['speaks for other tenants', { ...RULES, tenants: ['acme'] }, '403 ERR_AUTH_TENANT_FORBIDDEN'],
  ['has another rule, which it obeys', { ...RULES, tokenTypes: ['JWT', 'at+jwt'] }, '200'],
]

for (const [what, answer, url, options] of WAITS) {
  for (const [how, by, expected] of CHANGES) {
    test(`a request that waits for ${what} is decided by its issuer as it is then: it ${how}`, async (t) => {
      const slow = slowOnce(answer)
      const { get, replaceIssuer } = await start(t, options(slow.ask))
      const waiting = get(url)
      await slow.isAsked()
      await replaceIssuer(by)
      slow.answer()
      assert.equal(await waiting, expected)
    })
  }
}

for (const [how, by, expected] of CHANGES) {
  test(`a request whose body comes late is decided by its issuer as it is then: it ${how}`, async (t) => {
    const slow = slowOnce(undefined)
    const { get, replaceIssuer } = await start(t, {}, async () => void (await slow.ask()))
    const waiting = get('/slow/globex')
    await slow.isAsked()
    await replaceIssuer(by)
    slow.answer()
    assert.equal(await waiting, expected)
  })
}

/** Calls a function after so many jobs of promises. */
const afterJobs = (count: number, run: () => void): void =>
  count === 0 ? run() : queueMicrotask(() => afterJobs(count - 1, run))

test('a request is decided by its issuer as it is then, however soon after its answer that is replaced', async (t) => {
  const headers = await authority.headers({ resources: RIGHTS })
  const token = await authority.token({ sub: 'bob', resources: RIGHTS })
  for (let jobs = 0; jobs < 30; jobs++) {
    const slow = slowOnce(RULES)
    const answers = [slow.ask]
    const app = bareApp(t)
    const issuers = () => answers.pop()?.() ?? { ...RULES, tenants: ['acme'] }
    await app.register(tenantAuth, untyped({ issuers }))
    const preValidation = async () => void (await new Promise(setImmediate))
    app.get('/:tenant', { preValidation }, async () => 'ok')
    const waiting = app.inject({ url: '/globex', headers })
    await slow.isAsked()
    slow.answer()
    afterJobs(jobs, () => {
      app.authService.forget({ issuer })
      void app.authService.authenticate({ token })
    })
    assert.equal(outcome(await waiting), '403 ERR_AUTH_TENANT_FORBIDDEN', `after ${jobs} jobs`)
  }
})

test('a caller that is no request is decided by its issuer as it is then', async (t) => {
  for (const [how, by, expected] of CHANGES) {
    const slow = slowOnce(RIGHTS)
    const { app, replaceIssuer } = await start(t, { resourcesOf: slow.ask })
    const token = await authority.token({ sub: 'alice' })
    const waiting = app.authService.authenticate({ token, tenant: 'globex' }).then(
      () => '200',
      ({ statusCode, code }) => `${statusCode} ${code}`,
    )
    await slow.isAsked()
    await replaceIssuer(by)
    slow.answer()
    assert.equal(await waiting, expected, how)
  }
})

test('a request that waits is decided by the keys of its issuer as they are then', async (t) => {
  const slow = slowOnce(RIGHTS)
  const { own, app } = await withOwnServer(t, { resourcesOf: slow.ask })
  app.get('/t/:tenant', async () => 'ok')
  await app.authService.refreshKeys()
  const waiting = app.inject({ url: '/t/acme', headers: await own.headers({}) })
  await slow.isAsked()
  await own.rotate()
  await app.authService.refreshKeys()
  slow.answer()
  assert.equal(outcome(await waiting), '401 ERR_AUTH_TOKEN_INVALID')
})

test('issuers that displace one another at work cost no request its answer', async (t) => {
  const others = await Promise.all(
    ['https://a.test', 'https://b.test', 'https://c.test'].map((name) =>
      createTestAuthority({ issuer: name, audience }),
    ),
  )
  const keysOf = new Map(others.map((other) => [other.issuer, other.publicKeys]))
  const app = bareApp(t)
  await app.register(
    tenantAuth,
    untyped({
      issuersMax: 1,
      issuers: (iss: string) => ({ ...RULES, publicKeys: keysOf.get(iss) }),
      isRevoked: async () => {
        for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate)
        return false
      },
    }),
  )
  app.get('/t/:tenant', async () => 'ok')
  const client = async (by: (typeof others)[number]) => {
    const headers = await by.headers({ resources: RIGHTS })
    for (let time = 0; time < 5; time++) {
      assert.equal(outcome(await app.inject({ url: '/t/acme', headers })), '200')
    }
  }
  await Promise.all(others.map(client))
})

test('an issuer that was displaced, and is gone then, lets in nobody who waited', async (t) => {
  for (const url of ['/slow/globex', '/checked/globex', '/t/globex']) {
    const slow = slowOnce(true)
    const other = await createTestAuthority({ issuer: 'https://other.test', audience })
    let row: unknown = RULES
    const app = bareApp(t)
    const options = {
      issuersMax: 1,
      issuers: (iss: string) =>
        iss === other.issuer ? { ...RULES, publicKeys: other.publicKeys } : row,
      checks: { slow: slow.ask },
      tenants: (tenant: string) => url !== '/t/globex' || tenant === 'acme' || slow.ask(),
    }
    await app.register(tenantAuth, untyped(options))
    const handler = async () => 'ok'
    app.get('/t/:tenant', handler)
    app.get('/checked/:tenant', { config: { check: 'slow' } }, handler)
    const preValidation = async () => void (await slow.ask())
    app.post('/slow/:tenant', { preValidation }, handler)
    const headers = await authority.headers({ resources: RIGHTS })
    const method = url.startsWith('/slow') ? 'POST' : 'GET'
    const waiting = app.inject({ method, url, headers, ...(method === 'POST' && { payload: {} }) })
    await slow.isAsked()
    for (const sub of ['a', 'b']) {
      const others = await other.headers({ sub, resources: RIGHTS })
      assert.equal(outcome(await app.inject({ url: '/t/acme', headers: others })), '200')
    }
    row = null
    app.authService.forget({ issuer })
    slow.answer()
    assert.equal(outcome(await waiting), '401 ERR_AUTH_TOKEN_INVALID', url)
  }
})

test('a body that comes after its key was withdrawn lets nobody in', async (t) => {
  const slow = slowOnce(undefined)
  const { own, app } = await withOwnServer(t, {})
  const preValidation = async () => void (await slow.ask())
  app.post('/:tenant', { preValidation }, async () => 'ok')
  await app.authService.refreshKeys()
  const headers = await own.headers({ resources: RIGHTS })
  const waiting = app.inject({ method: 'POST', url: '/acme', headers, payload: {} })
  await slow.isAsked()
  await own.rotate()
  await app.authService.refreshKeys()
  slow.answer()
  assert.equal(outcome(await waiting), '401 ERR_AUTH_TOKEN_INVALID')
})

test('a body that its parser stores elsewhere, and that ends after its key was withdrawn, lets nobody in', async (t) => {
  const slow = slowOnce(undefined)
  const { own, app } = await withOwnServer(t, {})
  app.addContentTypeParser('video/mp4', async () => slow.ask())
  app.post('/:tenant', async () => assert.fail('the handler has run'))
  await app.authService.refreshKeys()
  const headers = { ...(await own.headers({ resources: RIGHTS })), 'content-type': 'video/mp4' }
  const waiting = app.inject({ method: 'POST', url: '/acme', headers, payload: 'x' })
  await slow.isAsked()
  await own.rotate()
  await app.authService.refreshKeys()
  slow.answer()
  assert.equal(outcome(await waiting), '401 ERR_AUTH_TOKEN_INVALID')
})

test('a user who counted as a guest while others were asked is decided anew', async (t) => {
  for (const [how, by, expected] of CHANGES.slice(0, 2)) {
    const slow = slowOnce(true)
    const { get, replaceIssuer } = await start(t, { tenants: slow.ask })
    const waiting = get('/guests/elsewhere')
    await slow.isAsked()
    await replaceIssuer(by)
    slow.answer()
    assert.equal(await waiting, expected, how)
  }
})

test('the answer of a check by rights that are gone does not stand', async (t) => {
  const slow = slowOnce(undefined)
  const check = async (authorization: Authorization) => {
    await slow.ask()
    return authorization.tenants.has('globex')
  }
  const { get, replaceIssuer } = await start(t, { checks: { slow: check } }, undefined, {
    ...RULES,
    tenants: ['acme'],
  })
  const waiting = get('/checked/acme')
  await slow.isAsked()
  await replaceIssuer(RULES)
  slow.answer()
  assert.equal(await waiting, '200')
})

test('a check waits while a further key comes, and is asked again', async (t) => {
  const own = await createTestAuthority()
  t.after(() => own.close())
  const { publicKeys: _, ...claims } = own.options
  const slow = slowOnce(true)
  const check = t.mock.fn(slow.ask)
  const keys = { keys: own.publicKeys.keys }
  const server = await askedServer((_request, response) => response.end(JSON.stringify(keys)))
  t.after(() => server.close?.())
  const app = bareApp(t)
  const options = { ...claims, publicKeysUrl: server.url, checks: { slow: check } }
  await app.register(tenantAuth, untyped(options))
  app.get('/checked/:tenant', { config: { check: 'slow' } }, async () => 'ok')
  await app.authService.refreshKeys()
  const waiting = app.inject({
    url: '/checked/acme',
    headers: await own.headers({ resources: RIGHTS }),
  })
  await slow.isAsked()
  await own.rotate()
  keys.keys = [...keys.keys, ...own.publicKeys.keys]
  await app.authService.refreshKeys()
  slow.answer()
  assert.equal(outcome(await waiting), '200')
  assert.equal(check.mock.callCount(), 2)
})

test('a key that is withdrawn when a check is asked again lets nobody in', async (t) => {
  const own = await createTestAuthority()
  const { publicKeys: first, ...claims } = own.options
  const headers = await own.headers({ resources: RIGHTS })
  await own.rotate()
  const sets = [[...first.keys, ...own.publicKeys.keys], own.publicKeys.keys]
  const served = { keys: first.keys }
  const server = await askedServer((_request, response) => response.end(JSON.stringify(served)))
  t.after(() => server.close?.())
  let handled = 0
  const check = async () => {
    Object.assign(served, { keys: sets.shift() })
    await app.authService.refreshKeys()
    return true
  }
  const app = bareApp(t)
  await app.register(tenantAuth, { ...claims, publicKeysUrl: server.url, checks: { check } })
  app.get('/checked/:tenant', { config: { check: 'check' } }, async () => {
    handled += 1
  })
  await app.authService.refreshKeys()
  const response = await app.inject({ url: '/checked/acme', headers })
  assert.equal(outcome(response), '503 ERR_AUTH_ISSUERS_UNAVAILABLE')
  assert.deepEqual([handled, sets.length], [0, 0])
})

test('a ticket that counts once is asked for once', async (t) => {
  const slow = slowOnce(false)
  const tickets = new Map([['one', await authority.token({ resources: RIGHTS })]])
  const tokenFrom = () => {
    const token = tickets.get('one') ?? null
    tickets.clear()
    return token
  }
  const { app, replaceIssuer } = await start(t, { isRevoked: slow.ask, tokenFrom })
  const waiting = app.inject('/t/globex')
  await slow.isAsked()
  await replaceIssuer({ ...RULES, tokenTypes: ['JWT', 'at+jwt'] })
  slow.answer()
  assert.equal(outcome(await waiting), '200')
})

test('a proof whose note is late is 503, and no replay, though the keys change meanwhile', async (t) => {
  const own = await createTestAuthority({ issuer, audience })
  const user = await own.bound({ sub: 'alice', resources: RIGHTS })
  const seen = new Set<string>()
  let fail = (_error: Error): void => assert.fail('nothing is noted')
  const { publicKeys } = own
  let row: unknown = { ...RULES, publicKeys }
  const app = bareApp(t)
  await app.register(
    tenantAuth,
    untyped({
      issuers: () => row,
      confirmation: 'check',
      publicUrl: 'https://api.test',
      proofSeen: (key: string) => {
        const isFirst = !seen.has(key)
        seen.add(key)
        if (seen.size > 1) return isFirst
        return new Promise((_resolve, reject) => {
          fail = reject
        })
      },
    }),
  )
  app.get('/t/:tenant', async () => 'ok')
  await app.ready()
  const get = async () =>
    app.inject({ url: '/t/acme', headers: user.headers('GET', 'https://api.test/t/acme') })
  const waiting = get()
  await until(() => seen.size > 0)
  row = { ...RULES, publicKeys, tokenTypes: ['at+jwt'] }
  app.authService.forget({ issuer })
  assert.equal(outcome(await get()), '200')
  fail(new Error('on purpose'))
  assert.equal(outcome(await waiting), '503 ERR_AUTH_PROOFS_UNAVAILABLE')
})

test('an issuer that is replaced whenever a question is open is refused in the end', async (t) => {
  let changes = 0
  const { get, replaceIssuer } = await start(t, {
    tenantsMaxAge: 0,
    tenants: async (tenant: string) => {
      if (tenant !== 'globex') return true
      changes += 1
      await replaceIssuer({ ...RULES, tokenTypes: ['at+jwt', `other-${changes}`] })
      return true
    },
  })
  assert.equal(await get('/t/globex'), '503 ERR_AUTH_ISSUERS_UNAVAILABLE')
  assert.equal(changes <= 6, true, `${changes} decisions on one request`)
})
