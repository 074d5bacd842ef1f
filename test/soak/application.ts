import { subscribe } from 'node:diagnostics_channel'
import Fastify from 'fastify'
import { measure } from './measured.ts'
import { openDenyList } from './open-deny-list.ts'
import type { Order, Ordered, Task, Told } from './orders.ts'
import type { Entry } from './revocations.ts'
import { ROUTE_NAMES, ROUTES } from './routes.ts'
import { AUDIENCE, SUPERUSER, TIMES, TOKEN_CACHE_SIZE } from './settings.ts'
import { watchStalls } from './stalls.ts'
import { ToldFunctions } from './told-functions.ts'

/**
 * One process of the application, until its parent lets go of it. Then it must end by itself.
 * Argument: JSON of a `Task`. Orders come as messages, and each is answered.
 */
const task: Task = JSON.parse(process.argv[2] ?? '{}')

let clockOffset = 0
const realNow = Date.now.bind(Date)
Date.now = () => realNow() + clockOffset

const lib: typeof import('../../lib/index.ts') = await import(`${task.lib}/index.ts`)
const functions = new ToldFunctions()
const revoked = await openDenyList(task)
const app = Fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 500 } })

await app.register(lib.tenantAuth, {
  ...TIMES,
  tokenCacheSize: TOKEN_CACHE_SIZE,
  audience: AUDIENCE,
  superuserResource: SUPERUSER,
  issuers: task.issuers,
  tenants: functions.tenants,
  opaqueToken: functions.opaqueToken,
  isRevoked: revoked.list,
  ...(task.rightsFrom === 'application' && { resourcesOf: functions.resourcesOf }),
})

for (const route of ROUTE_NAMES) {
  app.get(route, { config: ROUTES[route] }, async (request) => {
    const authorization = lib.authorizationOf(request)
    return {
      tenant: request.tenant === undefined ? authorization?.tenant : request.tenant,
      sub: authorization?.userInfo.sub,
      issuer: authorization?.issuer,
      resources: [...(authorization?.resources ?? [])].sort(),
    }
  })
}

async function carryOut(order: Order): Promise<Extract<Told, { kind: 'done' }>['answer']> {
  if (order.do === 'setClock') clockOffset = order.offset
  if (order.do === 'tell') functions.tell(order.table, order.key, order.value)
  if (order.do === 'fail') functions.fail(order.table, order.fault)
  if (order.do === 'forget') app.authService.forget({ issuer: order.issuer, sub: order.sub })
  if (order.do === 'deny') return deny(order.entry)
  return order.do === 'measure' ? measure(revoked.list.size()) : true
}

/** Whether the entry is kept for all processes. */
async function deny({ issuedBefore, ...names }: Entry): Promise<boolean> {
  const before = issuedBefore === undefined ? {} : { issuedBefore: new Date(issuedBefore) }
  return revoked.list.add({ ...names, ...before }).then(
    () => true,
    () => false,
  )
}

function tell(told: Told): void {
  // The parent may let go of it just then, which is no error.
  if (process.connected) process.send?.(told, undefined, undefined, () => {})
}

process.on('message', ({ id, order }: Ordered) => {
  void carryOut(order).then((answer) => tell({ kind: 'done', id, answer }))
})
// What Node's fetch has received to its end, be it good or bad.
subscribe('undici:request:trailers', (message) => {
  const { origin, path } = Object(message).request
  tell({ kind: 'fetched', url: `${origin}${path}` })
})
watchStalls((length) => tell({ kind: 'stalled', length }))
process.once('disconnect', () => {
  void app.close().then(() => revoked.close())
})
tell({ kind: 'listening', address: await app.listen({ port: 0, host: '127.0.0.1' }) })
