import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { WatchedTenants } from '../../lib/identity/tenants/known-tenants.ts'
import { type AuthOptions, errors, type RouteDeclaration, signalOf } from '../../lib/index.ts'
import { as, guardedApp } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { socketTo } from '../helpers/app/sockets.ts'
import { until } from '../helpers/processes/until.ts'
import { json, tenantServer } from '../helpers/servers/tenant-server.ts'

const SUPERUSER = 'root:all'

const SERVER = { forceCloseConnections: true }

type State = boolean | 'suspended'

/** An application whose route `/hold` answers when it is let go on, and what its signals say. */
async function holding(t: TestContext, options: AuthOptions, config: RouteDeclaration = {}) {
  const app = await guardedApp(t, { superuserResource: SUPERUSER, ...options }, SERVER)
  await app.register(websocket)
  const signals: AbortSignal[] = []
  let goOn = (): void => {}
  const isFree = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const handler = async (request: FastifyRequest) => {
    signals.push(signalOf(request))
    await isFree
    return 'x'
  }
  app.route({ method: ['GET', 'POST'], url: '/hold/:tenant', config, handler })
  app.get('/look/:tenant', { config: { suspended: true } }, async () => 'x')
  app.get('/socket/:tenant', { config, websocket: true }, (socket, request) => {
    const signal = signalOf(request)
    signals.push(signal)
    signal.addEventListener('abort', () => socket.close(4403))
    socket.send('hello')
  })
  const hold = async (method: 'GET' | 'POST', headers: Record<string, string>, tenant: string) => {
    const count = signals.length
    const response = app.inject({ method, url: `/hold/${tenant}`, headers }).then(outcome)
    await until(() => signals.length > count)
    return { signal: signals[count], response }
  }
  return { app, signals, goOn, hold }
}

/** A function of the application whose answers a test changes. */
function statesByFunction() {
  const states: Record<string, State> = { acme: true, other: true }
  return { states, tenants: (tenant: string): State => states[tenant] ?? false }
}

/** Another request by which the service learns the state of a tenant. */
async function look(app: FastifyInstance, tenant = 'acme'): Promise<void> {
  const headers = await as({ [tenant]: [] })
  assert.equal(outcome(await app.inject({ url: `/look/${tenant}`, headers })), '200')
}

function assertSuspended(signal: AbortSignal | undefined): void {
  assert.equal(signal?.aborted, true)
  assert.ok(signal.reason instanceof errors.ERR_AUTH_TENANT_SUSPENDED, `${signal.reason}`)
  assert.equal(signal.reason.statusCode, 403)
}

const MEMBER = { acme: [], other: [] }

const REQUESTS: readonly {
  readonly what: string
  readonly ends: boolean
  readonly method?: 'POST'
  readonly read?: true
  readonly config?: RouteDeclaration
  readonly rights?: Record<string, string[]> | null
  readonly tenant?: string
}[] = [
  { what: 'GET', ends: true },
  { what: 'POST', method: 'POST', ends: true },
  { what: 'GET under read', read: true, ends: false },
  { what: 'POST under read', read: true, method: 'POST', ends: true },
  { what: 'a route that serves suspended tenants', config: { suspended: true }, ends: false },
  { what: 'a superuser', rights: { '*': [SUPERUSER] }, ends: false },
  { what: 'a member on a route for guests', config: { guests: true }, ends: true },
  { what: 'a guest', config: { guests: true }, rights: null, ends: false },
  { what: 'another tenant', tenant: 'other', ends: false },
]

for (const { what, ends, method = 'GET', read, config, rights = MEMBER, tenant } of REQUESTS) {
  test(`the signal of ${what} ${ends ? 'ends' : 'goes on'} when the tenant is suspended`, async (t) => {
    const { states, tenants } = statesByFunction()
    const options: AuthOptions = { tenants, ...(read && { suspendedTenants: 'read' }) }
    const { app, goOn, hold } = await holding(t, options, config)
    const headers = rights === null ? {} : await as(rights)
    const { signal, response } = await hold(method, headers, tenant ?? 'acme')
    states['acme'] = 'suspended'
    await look(app)
    assert.equal(signal?.aborted, false, 'a kept state counts')
    app.authService.forget({ tenant: 'acme' })
    assert.equal(signal?.aborted, false, 'nobody has asked')
    await look(app)
    if (ends) assertSuspended(signal)
    else assert.equal(signal?.aborted, false)
    goOn()
    assert.equal(await response, '200')
  })
}

test('with tenantsMaxAge 0 each request asks, and its answer ends the others', async (t) => {
  const { states, tenants } = statesByFunction()
  const { app, hold, goOn } = await holding(t, { tenants, tenantsMaxAge: 0 })
  const held = await Promise.all(
    Array.from({ length: 50 }, async () => hold('GET', await as(MEMBER), 'acme')),
  )
  await look(app)
  for (const { signal } of held) assert.equal(signal?.aborted, false)
  states['acme'] = 'suspended'
  await look(app)
  for (const { signal } of held) assertSuspended(signal)
  goOn()
})

test('actAs learns the state too, and ends the signals', async (t) => {
  const { states, tenants } = statesByFunction()
  const { app, hold, goOn } = await holding(t, { tenants, tenantsMaxAge: 0, asyncContext: true })
  const { signal } = await hold('GET', await as(MEMBER), 'acme')
  states['acme'] = 'suspended'
  const who = { sub: 'job', tenant: 'acme', resources: [] }
  const work = app.authService.actAs(who, () => assert.fail('the work has run'))
  await assert.rejects(work, { code: 'ERR_AUTH_TENANT_SUSPENDED', statusCode: 403 })
  assertSuspended(signal)
  goOn()
})

test('a tenant that is gone ends no signal, and neither does an outage or a wrong answer', async (t) => {
  const { states, tenants } = statesByFunction()
  const { app, hold, goOn } = await holding(t, { tenants, tenantsMaxAge: 0 })
  const headers = await as(MEMBER)
  const { signal } = await hold('GET', headers, 'acme')
  states['acme'] = false
  const gone = await app.inject({ url: '/look/acme', headers })
  assert.equal(outcome(gone), '404 ERR_AUTH_TENANT_UNKNOWN')
  Reflect.set(states, 'acme', 'Suspended')
  const wrong = await app.inject({ url: '/look/acme', headers })
  assert.equal(outcome(wrong), '503 ERR_AUTH_TENANTS_UNAVAILABLE')
  assert.equal(signal?.aborted, false)
  goOn()
})

const OLD = '["other",{"name":"acme","state":"suspended"}]'

for (const [what, refresh] of [
  ['is refreshed in the background', (): void => {}],
  ['is forgotten', (app: FastifyInstance) => app.authService.forget()],
] as const) {
  test(`a list at a URL that ${what} ends the signals of the tenants it suspends`, async (t) => {
    const server = await tenantServer('["acme","other"]')
    const tenantsMaxAge = what === 'is forgotten' ? 60 : 0.05
    const { app, hold, goOn } = await holding(t, { tenants: server.url, tenantsMaxAge })
    await app.ready()
    const headers = await as(MEMBER)
    const one = await hold('GET', headers, 'acme')
    const other = await hold('GET', headers, 'other')
    const superuser = await hold('GET', await as({ '*': [SUPERUSER] }), 'acme')
    server.answer = json('["acme",{"name":"acme","state":"suspended"}]')
    refresh(app)
    await setTimeout(120)
    assert.equal(one.signal?.aborted, false, 'a list with two states of a name is unusable')
    server.answer = json(OLD)
    refresh(app)
    await until(() => one.signal?.aborted === true)
    assertSuspended(one.signal)
    assert.equal(other.signal?.aborted, false)
    assert.equal(superuser.signal?.aborted, false)
    goOn()
  })
}

for (const source of ['function', 'URL'] as const) {
  test(`a signal is aborted that is asked for when the kept state of a ${source} has turned already`, async (t) => {
    const { states, tenants } = statesByFunction()
    const server = await tenantServer('["acme"]')
    const app = await guardedApp(t, { tenants: source === 'URL' ? server.url : tenants })
    const heard: string[] = []
    app.get('/late/:tenant', async (request) => {
      states['acme'] = 'suspended'
      server.answer = json(OLD)
      app.authService.forget()
      await look(app)
      const signal = signalOf(request)
      assertSuspended(signal)
      signal.addEventListener('abort', () => heard.push('end'))
      await setTimeout(5)
      return 'x'
    })
    app.get('/look/:tenant', { config: { suspended: true } }, async () => 'x')
    const response = await app.inject({ url: '/late/acme', headers: await as(MEMBER) })
    assert.equal(outcome(response), '200')
    assert.deepEqual(heard, ['end'])
  })
}

for (const source of ['function', 'URL'] as const) {
  test(`a signal is aborted that is asked for while the suspension by a ${source} ends another one`, async (t) => {
    const { states, tenants } = statesByFunction()
    const server = await tenantServer('["acme","other"]')
    const { app, hold, goOn } = await holding(t, {
      tenants: source === 'URL' ? server.url : tenants,
    })
    let request: FastifyRequest | undefined
    app.get('/wait/:tenant', async (waiting) => {
      request = waiting
      await until(() => first.signal?.aborted === true)
      return 'x'
    })
    const headers = await as(MEMBER)
    const first = await hold('GET', headers, 'acme')
    const waits = app.inject({ url: '/wait/acme', headers }).then(outcome)
    await until(() => request !== undefined)
    let later: AbortSignal | undefined
    first.signal?.addEventListener('abort', () => {
      later = request && signalOf(request)
    })
    states['acme'] = 'suspended'
    server.answer = json(OLD)
    app.authService.forget()
    await look(app)
    assertSuspended(first.signal)
    assertSuspended(later)
    goOn()
    assert.equal(await waits, '200')
  })
}

test('a list that is forgotten during each load ends the signals of suspended tenants', async (t) => {
  const server = await tenantServer('["acme","other"]')
  const { app, hold, goOn } = await holding(t, { tenants: server.url })
  const { signal, response } = await hold('GET', await as(MEMBER), 'acme')
  server.answer = (answer) => {
    app.authService.forget({ tenant: 'other' })
    json(OLD)(answer)
  }
  app.authService.forget({ tenant: 'acme' })
  await look(app)
  assertSuspended(signal)
  server.answer = json(OLD)
  goOn()
  assert.equal(await response, '200')
})

test('a state that is forgotten, and is another one by now, ends no signal', async (t) => {
  const { states, tenants } = statesByFunction()
  const { app, hold, goOn } = await holding(t, { tenants })
  states['acme'] = 'suspended'
  await look(app)
  states['acme'] = true
  app.authService.forget({ tenant: 'acme' })
  const { signal } = await hold('GET', await as(MEMBER), 'acme')
  assert.equal(signal?.aborted, false)
  goOn()
})

for (const suspendedTenants of ['refuse', 'read'] as const) {
  test(`with ${suspendedTenants} a WebSocket ends when its tenant is suspended`, async (t) => {
    const { states, tenants } = statesByFunction()
    const { app, signals } = await holding(t, { tenants, suspendedTenants })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const socket = socketTo(app, '/socket/acme', { headers: await as(MEMBER) })
    await once(socket, 'message')
    states['acme'] = 'suspended'
    app.authService.forget({ tenant: 'acme' })
    const closed = once(socket, 'close')
    await look(app)
    const [code] = await closed
    assert.equal(code, 4403)
    assertSuspended(signals[0])
  })
}

test('a WebSocket of a route that serves suspended tenants goes on', async (t) => {
  const { states, tenants } = statesByFunction()
  const { app, signals } = await holding(t, { tenants, tenantsMaxAge: 0 }, { suspended: true })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const socket = socketTo(app, '/socket/acme', { headers: await as(MEMBER) })
  await once(socket, 'message')
  states['acme'] = 'suspended'
  await look(app)
  assert.equal(signals[0]?.aborted, false)
  socket.terminate()
})

for (const source of ['function', 'URL'] as const) {
  test(`the wait on a ${source} is let go at the end of each response`, async (t) => {
    const { states, tenants } = statesByFunction()
    const server = await tenantServer('["acme"]')
    const added = t.mock.method(WatchedTenants.prototype, 'add')
    const { app, signals, goOn } = await holding(t, {
      tenants: source === 'URL' ? server.url : tenants,
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const headers = await as(MEMBER)
    const url = `${app.listeningOrigin}/hold/acme`
    const leaving = new AbortController()
    const left = fetch(url, { headers, signal: leaving.signal }).catch(() => 'left')
    const answered = [1, 2, 3].map(() => fetch(url, { headers }).then(({ status }) => status))
    const socket = socketTo(app, '/socket/acme', { headers })
    await once(socket, 'message')
    await until(() => signals.length === 5)
    const watched = () => {
      const names: string[] = []
      const all = new Set(added.mock.calls.map((call) => call.this))
      for (const each of all) {
        assert.ok(each instanceof WatchedTenants, 'the source of the tenants')
        each.notify((tenant) => names.push(tenant) < 0)
      }
      return names
    }
    assert.deepEqual(watched(), ['acme'])
    leaving.abort()
    assert.equal(await left, 'left')
    goOn()
    assert.deepEqual(await Promise.all(answered), [200, 200, 200])
    assert.deepEqual(watched(), ['acme'], 'the socket waits')
    socket.close()
    await until(() => watched().length === 0)
    states['acme'] = 'suspended'
    server.answer = json(OLD)
    app.authService.forget()
    await look(app)
    for (const { aborted } of signals) assert.equal(aborted, false)
  })
}

test('in dev mode the signal of the mock user ends too', async (t) => {
  const { states, tenants } = statesByFunction()
  states['default'] = true
  const { app, hold, goOn } = await holding(t, { devMode: true, tenants, tenantsMaxAge: 0 })
  const { signal } = await hold('GET', {}, 'default')
  states['default'] = 'suspended'
  assert.equal(outcome(await app.inject('/look/default')), '200')
  assertSuspended(signal)
  goOn()
})
