import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import { installedGuards } from '../../../guard/scopes.ts'
import type { Implies } from '../../../identity/authorization/implied-ids.ts'
import { isObject } from '../../../platform/runtime/own-property.ts'
import { isWithin } from '../../../routes/fastify-scope.ts'
import {
  type CapturedRoute,
  capturedRoute,
  isInitialization,
} from '../../../routes/route-capture.ts'
import { type ListedPlace, type ListedRoute, routePlaces } from '../../../routes/route-list.ts'
import { added } from '../../../routes/route-registry.ts'
import { groupBy } from '../policy/diff-matrix.ts'
import {
  COUNT_VARIABLE,
  FOLDER_VARIABLE,
  guardedApplications,
  type PolicyReport,
  readReports,
  reportFile,
  writeReport,
} from './report.ts'

/** Milliseconds after the last listen in which a further Fastify instance may yet be made. */
const QUIET = 1000

/**
 * Reports the Fastify instances of this process, and ends it when all of them have listened.
 *
 * @param count the number of guarded applications of all processes to wait for
 */
function watchProcess(folder: string, count: number): void {
  const file = reportFile(folder)
  const startedAt = Date.now()
  const made: WatchedApplication[] = []
  let end: NodeJS.Timeout | undefined

  const report = (ended?: Pick<PolicyReport, 'exitCode' | 'endedAt'>): void => {
    if (made.length > 0) writeReport(file, { ...summary(made), startedAt, ...ended })
  }
  const endSoon = (): void => {
    // A program that has nothing left to do ends earlier, by itself.
    end = setTimeout(() => {
      if (guardedApplications(readReports(folder)).length < count) endSoon()
      else process.exit(0)
    }, QUIET).unref()
  }
  const onChange = (): void => {
    clearTimeout(end)
    report()
    if (made.some(isListed) && !made.some(({ isAwaited }) => isAwaited())) endSoon()
  }
  subscribe('fastify.initialization', (message) => {
    if (!isInitialization(message)) return
    made.push(watchApplication(message.fastify, onChange))
    onChange()
  })
  process.on('exit', (exitCode) => report({ exitCode, endedAt: Date.now() }))
}

function summary(made: readonly WatchedApplication[]): Omit<PolicyReport, 'startedAt'> {
  const listening = made.filter(({ hasListened }) => hasListened())
  const listed = made.filter(isListed)
  const awaited = made.filter(({ isAwaited }) => isAwaited())
  return {
    pid: process.pid,
    made: made.length,
    listened: listening.length,
    silent: awaited.filter(({ isGuarded }) => isGuarded()).length,
    awaited: awaited.length,
    applications: listed.map(({ routes }) => routes()),
    implies: listed.map(({ implies }) => implies()),
    beside: listed.map(({ uncovered }) => uncovered()),
    unguarded: listening
      .filter(({ isGuarded }) => !isGuarded())
      .map(({ uncovered }) => uncovered())
      .filter(({ length }) => length > 0),
    isInDevMode: listed.some(({ isInDevMode }) => isInDevMode()),
  }
}

function isListed({ hasListened, isGuarded }: WatchedApplication): boolean {
  return hasListened() && isGuarded()
}

/** The part of a service that is used. The application may have another copy of the package. */
interface RouteLister {
  routes(app: object): ListedRoute[]
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
  let address = { address: '127.0.0.1', family: 'IPv4', port: 80 }
  let listening: Promise<string> | undefined
  let hasListened = false
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
      const port = Number(isObject(where) ? where['port'] : where) || address.port
      address = { ...address, port }
      hasListened = true
      onChange()
      return `http://${address.address}:${port}`
    })
    return listening
  }

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
    address: () => (hasListened ? address : null),
  })

  const services = (): { scope: FastifyInstance; service: RouteLister }[] =>
    scopes.flatMap((scope) => {
      const service = Object.getOwnPropertyDescriptor(scope, 'authService')?.value
      return isRouteLister(service) ? [{ scope, service }] : []
    })
  /** The guards of another copy of the package do not count. */
  const loadedSettings = () => scopes.flatMap(installedGuards).map(({ loaded }) => loaded)
  const isGuarded = (): boolean => services().length > 0
  return {
    hasListened: () => hasListened,
    isGuarded,
    /** True if it may yet listen, and its routes matter. */
    isAwaited: () => !hasListened && !isClosed && !(isReady && !isGuarded()),
    routes: () => services().flatMap(({ scope, service }) => service.routes(scope)),
    uncovered(): ListedPlace[] {
      const guarded = services().map(({ scope }) => scope)
      return added(captured)
        .filter((route) => !guarded.some((scope) => isWithin(scope, route.scope)))
        .flatMap(routePlaces)
    },
    isInDevMode: () => loadedSettings().some(({ settings }) => settings.devMode),
    /** The implications of all guards together. */
    implies: () => mergedImplies(loadedSettings().map(({ rights }) => rights.implied?.configured)),
  }
}

function mergedImplies(all: readonly (Implies | undefined)[]): Implies | null {
  const entries = all.flatMap((implies) => Object.entries(implies ?? {}))
  if (entries.length === 0) return null
  const groups = [...groupBy(entries, ([id]) => id)]
  return Object.fromEntries(
    groups.map(([id, group]) => [id, [...new Set(group.flatMap(([, ids]) => ids))]]),
  )
}

type Callback = (...args: unknown[]) => void

function isCallback(value: unknown): value is Callback {
  return typeof value === 'function'
}

function isRouteLister(value: unknown): value is RouteLister {
  return isObject(value) && typeof value['routes'] === 'function'
}

// `node --import` loads this into each process of the application of `policy`.
const folder = process.env[FOLDER_VARIABLE]
if (folder !== undefined) watchProcess(folder, Number(process.env[COUNT_VARIABLE] ?? 0))
