import { subscribe } from 'node:diagnostics_channel'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { shownGuard } from '../../../guard/scopes.ts'
import type { Implies } from '../../../identity/authorization/implied-ids.ts'
import { isObject, ownProperty } from '../../../platform/runtime/own-property.ts'
import { isWithin } from '../../../routes/fastify-scope.ts'
import type { Route } from '../../../routes/route.ts'
import {
  type CapturedRoute,
  capturedRoute,
  isInitialization,
} from '../../../routes/route-capture.ts'
import { type ConstrainedRoute, routePlaces, wholeRoute } from '../../../routes/route-list.ts'
import { added } from '../../../routes/route-registry.ts'
import { groupBy } from '../policy/diff-matrix.ts'
import { orderedImplies, placeKey } from '../policy/matrix.ts'
import {
  COUNT_VARIABLE,
  FOLDER_VARIABLE,
  guardedApplications,
  type PolicyReport,
  readReports,
  reportWriter,
} from './report.ts'

/** Milliseconds after the last listen in which a further Fastify instance may yet be made. */
const QUIET = 1000

/**
 * Reports the Fastify instances of this process, and ends it when all of them have listened.
 *
 * @param count the number of guarded applications of all processes to wait for
 */
function watchProcess(folder: string, count: number): void {
  const write = reportWriter(folder)
  const startedAt = Date.now()
  const made: WatchedApplication[] = []
  let timer: NodeJS.Timeout | undefined

  const report = (ended?: Pick<PolicyReport, 'exitCode' | 'endedAt'>): void => {
    if (made.length > 0) write({ ...summary(made), startedAt, ...ended })
  }
  const end = () => process.exit(process.exitCode ?? 0)
  const endSoon = (): void => {
    timer = setTimeout(() => {
      if (guardedApplications(readReports(folder)).length < count) endSoon()
      else end()
    }, QUIET).unref()
  }
  const onChange = (): void => {
    clearTimeout(timer)
    report()
    const hasGuarded = made.some(({ policies }) => policies()?.isGuarded)
    if (hasGuarded && !made.some(({ isAwaited }) => isAwaited())) endSoon()
  }
  subscribe('fastify.initialization', (message) => {
    if (!isInitialization(message)) return
    made.push(watchApplication(message.fastify, onChange))
    onChange()
  })
  // A server that listens would keep the process alive. So the application sees no `beforeExit`,
  // and a promise that it awaits may stay open. Nothing more can happen.
  process.on('beforeExit', () => {
    if (made.some(({ isListening }) => isListening())) end()
  })
  process.on('exit', (exitCode) => report({ exitCode, endedAt: Date.now() }))
}

function summary(made: readonly WatchedApplication[]): Omit<PolicyReport, 'startedAt'> {
  const listening = made.flatMap(({ policies }) => policies() ?? [])
  const listed = listening.filter(({ isGuarded }) => isGuarded)
  const awaited = made.filter(({ isAwaited }) => isAwaited())
  return {
    pid: process.pid,
    made: made.length,
    listened: listening.length,
    silent: awaited.filter(({ isGuarded }) => isGuarded()).length,
    awaited: awaited.length,
    applications: listed.map(({ routes, implies, beside }) => ({ routes, implies, beside })),
    unguarded: listening.flatMap(({ isGuarded, beside }) =>
      isGuarded || beside.length === 0 ? [] : [beside],
    ),
    unlisted: listed.flatMap(({ unlisted }) => unlisted),
    isInDevMode: listed.some(({ isInDevMode }) => isInDevMode),
    isForeign: listed.some(({ isForeign }) => isForeign),
  }
}

type WatchedApplication = ReturnType<typeof watchApplication>

/**
 * A Fastify instance of a watched program. To listen, it only becomes ready: then its routes are
 * known, early ones too, because this package is loaded before the instance is made.
 */
function watchApplication(app: FastifyInstance, onChange: () => void) {
  const scopes = [app]
  const captured: CapturedRoute[] = []
  /** The pretended address. */
  let address: AddressInfo | string = addressOf(undefined)
  let listening: Promise<string> | undefined
  /** Taken at the first listen: when the application closes, its guards are gone. */
  let policies: ReturnType<typeof takePolicies> | undefined
  let isReady = false
  let isClosed = false
  app.addHook('onRoute', function (options) {
    captured.push(capturedRoute(this, options))
  })
  app.addHook('onRegister', (scope) => void scopes.push(scope))
  app.addHook('onReady', async () => {
    isReady = true
    onChange()
  })
  app.addHook('onClose', async () => {
    isClosed = true
    onChange()
  })

  /** A program that listens a second time gets the same address. */
  function listen([where]: readonly unknown[]): Promise<string> {
    listening ??= Promise.resolve(app.ready()).then(() => {
      address = addressOf(where)
      policies = takePolicies(scopes, captured)
      onChange()
      return typeof address === 'string' ? address : `http://${address.address}:${address.port}`
    })
    return listening
  }
  const isListening = (): boolean => policies !== undefined && !isClosed

  // Both ways to listen: Fastify's own, and that of its server after the application is ready.
  const { server } = app
  Object.assign(app, {
    listen: (...args: unknown[]): Promise<string> | undefined => {
      const pretended = listen(args)
      const callback = args.find(isCallback)
      if (callback === undefined) return pretended
      pretended.then(
        (address) => setImmediate(callback, null, address),
        (error) => setImmediate(callback, error, null),
      )
      return undefined
    },
  })
  Object.assign(server, {
    listen: (...args: unknown[]) => {
      const callback = args.find(isCallback)
      if (callback !== undefined) server.once('listening', callback)
      listen(args).then(
        () => setImmediate(() => server.emit('listening')),
        (error) => setImmediate(() => server.emit('error', error)),
      )
      return server
    },
    address: () => (isListening() ? address : null),
  })
  Object.defineProperty(server, 'listening', { get: isListening, configurable: true })

  const isGuarded = (): boolean => guardsOf(scopes).length > 0
  return {
    /** Undefined: it has not listened. */
    policies: () => policies,
    isListening,
    isGuarded,
    /** True if it may yet listen, and its routes matter. */
    isAwaited: () => policies === undefined && !isClosed && !(isReady && !isGuarded()),
  }
}

/** A socket has a path for an address. */
function addressOf(where: unknown): AddressInfo | string {
  const given = isObject(where) ? (where['path'] ?? where['port']) : where
  if (typeof given === 'string' && Number.isNaN(Number(given))) return given
  return { address: '127.0.0.1', family: 'IPv4', port: Number(given) || 80 }
}

/** The part of a service that is used. The application may have another copy of the package. */
interface RouteLister {
  routes(app: object): ConstrainedRoute[]
}

function guardsOf(scopes: readonly FastifyInstance[]) {
  return scopes.flatMap((scope) => {
    const service = ownProperty(scope, 'authService')
    return isRouteLister(service) ? [{ scope, service, shown: shownGuard(scope) }] : []
  })
}

/** The policies of an application that is ready, for the matrix. */
function takePolicies(scopes: readonly FastifyInstance[], captured: readonly CapturedRoute[]) {
  const guards = guardsOf(scopes)
  const routes = guards.flatMap(({ scope, service }) => service.routes(scope)).map(wholeRoute)
  const all = added(captured)
  const isCovered = (route: Route) => guards.some(({ scope }) => isWithin(scope, route.scope))
  const listed = new Set(routes.map(placeKey))
  return {
    isGuarded: guards.length > 0,
    routes,
    beside: all.filter((route) => !isCovered(route)).flatMap(routePlaces),
    unlisted: all
      .filter(isCovered)
      .flatMap(routePlaces)
      .filter((place) => !listed.has(placeKey(place))),
    isInDevMode: guards.some(({ shown }) => shown?.isInDevMode),
    isForeign: guards.some(({ shown }) => shown === undefined),
    /** The implications of all guards together. */
    implies: mergedImplies(guards.map(({ shown }) => shown?.implies)),
  }
}

function mergedImplies(all: readonly (Implies | undefined)[]): Implies | undefined {
  const entries = all.flatMap((implies) => Object.entries(implies ?? {}))
  if (entries.length === 0) return undefined
  const groups = [...groupBy(entries, ([id]) => id)]
  const merged = groups.map(([id, group]) => [id, [...new Set(group.flatMap(([, ids]) => ids))]])
  return Object.fromEntries(orderedImplies(Object.fromEntries(merged)))
}

function isCallback(value: unknown): value is (...args: unknown[]) => void {
  return typeof value === 'function'
}

function isRouteLister(value: unknown): value is RouteLister {
  return isObject(value) && typeof value['routes'] === 'function'
}

// `node --import` loads this into each process of the application of `policy`.
const folder = process.env[FOLDER_VARIABLE]
if (folder !== undefined) watchProcess(folder, Number(process.env[COUNT_VARIABLE] ?? 0))
