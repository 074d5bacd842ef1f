import { subscribe } from 'node:diagnostics_channel'
import { setImmediate } from 'node:timers/promises'
import Fastify, { type FastifyRequest } from 'fastify'
import { Redis } from 'ioredis'
import { OrderedFunctions } from './functions.ts'
import type { Measured, Order, Ordered, Report, Task } from './orders.ts'
import type { Entry } from './revocations.ts'
import { CALL, ROUTE_NAMES, ROUTES } from './routes.ts'
import {
  AUDIENCE,
  CLIENT,
  DENY_LIST,
  IMPLIES,
  PUBLIC_URL,
  SECRETS,
  SUPERUSER,
  TIMES,
  TOKEN_CACHE_SIZE,
} from './settings.ts'
import { watchStalls } from './stalls.ts'

/**
 * One process of the application, until its parent lets go of it. Then it must end by itself.
 * Argument: JSON of a `Task`. Orders come as messages, and each is answered.
 */
const task: Task = JSON.parse(process.argv[2] ?? '{}')

let clockOffset = 0
const realNow = Date.now.bind(Date)
Date.now = () => realNow() + clockOffset

const lib: typeof import('../../lib/index.ts') = await import(`${task.lib}/index.ts`)
const revocation: typeof import('../../lib/entrypoints/revocation/index.ts') = await import(
  `${task.lib}/entrypoints/revocation/index.ts`
)
const { sharedSecret }: typeof import('../../lib/entrypoints/introspection/index.ts') =
  await import(`${task.lib}/entrypoints/introspection/index.ts`)
const functions = new OrderedFunctions()
// A server that was started a moment ago may still be loading.
const client = new Redis(task.storeUrl, {
  socketTimeout: 5000,
  retryStrategy: () => 100,
  maxLoadingRetryTime: 500,
})
// Without a listener an outage would end the process.
client.on('error', () => {})
const revoked = revocation.redisDenyList({ client, ...DENY_LIST })
const [{ issuer }] = [task.issuers[0] ?? { issuer: '' }]
const ownToken = sharedSecret({ secrets: SECRETS, issuer, audience: AUDIENCE })
const app = Fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 500 } })

/** The tenant in the body, where there is one, else in the query. */
function resolveTenant({ body, query }: FastifyRequest) {
  return Object(body ?? query).tenant ?? null
}

await app.register(lib.tenantAuth, {
  ...TIMES,
  tokenCacheSize: TOKEN_CACHE_SIZE,
  audience: AUDIENCE,
  superuserResource: SUPERUSER,
  implies: IMPLIES,
  issuers: task.issuers,
  tenants: functions.tenants,
  opaqueToken: async (token) => (await ownToken(token)) ?? functions.opaqueToken(token),
  isRevoked: revoked,
  confirmation: 'check',
  publicUrl: PUBLIC_URL,
  checks: { owner: (_authorization, { query }) => functions.check(Object(query).says) },
  ...(task.rightsFrom === 'application' && {
    resourcesOf: functions.resourcesOf,
    suspendedTenants: 'read',
    resolveTenant,
    proofSeen: revocation.redisProofs({ client }),
  }),
})
await app.register(revocation.backchannelLogout, { revoked, clients: [CLIENT] })

for (const route of ROUTE_NAMES) {
  const config = ROUTES[route]
  const isLate = 'late' in config
  if (isLate && task.rightsFrom === 'claims') continue
  app.route({
    method: isLate ? 'POST' : 'GET',
    url: route,
    config,
    handler: async (request) => {
      const authorization = lib.authorizationOf(request)
      return received(authorization, request.tenant ?? authorization?.tenant)
    },
  })
}

// A caller that is no request: what it is, stands in the body.
app.post(CALL, { config: { noauth: true } }, async ({ body }, reply) => {
  const { token, tenant } = Object(body)
  try {
    const who = { token, tenant, require: 'menu:read' }
    const { authorization } = await app.authService.authenticate(who)
    return received(authorization, authorization.tenant)
  } catch (error) {
    const { statusCode, code } = Object(error)
    return reply.code(statusCode ?? 500).send({ code: code ?? String(error) })
  }
})

function received(
  authorization: ReturnType<typeof lib.authorizationOf>,
  tenant: string | null | undefined,
) {
  return {
    tenant: tenant ?? null,
    sub: authorization?.userInfo.sub ?? null,
    issuer: authorization?.issuer ?? null,
    resources: [...(authorization?.resources ?? [])].sort(),
    suspended: authorization?.suspended ?? false,
  }
}

async function carryOut(order: Order): Promise<Extract<Report, { kind: 'done' }>['answer']> {
  if (order.do === 'setClock') clockOffset = order.offset
  if (order.do === 'setAnswer') functions.setAnswer(order.table, order.key, order.value)
  if (order.do === 'fail') functions.fail(order.table, order.fault)
  if (order.do === 'forget') app.authService.forget(order.what)
  if (order.do === 'deny') return deny(order.entry)
  return order.do === 'measure' ? measure() : true
}

/** Whether the entry is kept for all processes. */
async function deny({ issuedBefore, ...names }: Entry): Promise<boolean> {
  const before = issuedBefore === undefined ? {} : { issuedBefore: new Date(issuedBefore) }
  return revoked.add({ ...names, ...before }).then(
    () => true,
    () => false,
  )
}

/** Measures this process, which needs `--expose-gc`. */
async function measure(): Promise<Measured> {
  // One collection leaves what another thread is looking at.
  for (let i = 0; i < 2; i++) {
    await setImmediate()
    globalThis.gc?.()
  }
  const handles: Record<string, number> = {}
  for (const type of process.getActiveResourcesInfo()) handles[type] = (handles[type] ?? 0) + 1
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed, rss, handles, entries: revoked.size(), users: functions.users.size }
}

function send(report: Report): void {
  // The parent may let go of it just then, which is no error.
  if (process.connected) process.send?.(report, undefined, undefined, () => {})
}

process.on('message', ({ id, order }: Ordered) => {
  void carryOut(order).then((answer) => send({ kind: 'done', id, answer }))
})
// What Node's fetch has received to its end, be it good or bad.
subscribe('undici:request:trailers', (message) => {
  const { origin, path } = Object(message).request
  send({ kind: 'fetched', url: `${origin}${path}` })
})
watchStalls((length) => send({ kind: 'stalled', length }))
process.once('disconnect', () => {
  void app.close().then(() => client.disconnect())
})
send({ kind: 'listening', address: await app.listen({ port: 0, host: '127.0.0.1' }) })
