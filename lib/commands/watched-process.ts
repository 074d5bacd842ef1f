import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import type { ListedRoute } from '../inspection/listed-routes.ts'
import { isObject } from '../outside/is-object.ts'
import { type PolicyReport, reportFile, writeReport } from './policy-report.ts'
import { WatchedApplication } from './watched-application.ts'

/** Milliseconds after the last listen in which a further Fastify instance may yet be made. */
const QUIET = 1000

/** Reports the Fastify instances of this process, and ends it when all of them have listened. */
export function watchProcess(folder: string): void {
  const file = reportFile(folder)
  const startedAt = Date.now()
  const made: WatchedApplication[] = []
  let end: NodeJS.Timeout | undefined

  const report = (ended?: Pick<PolicyReport, 'exitCode' | 'endedAt'>): void => {
    if (made.length > 0) writeReport(file, { ...summary(made), startedAt, ...ended })
  }
  const onChange = (): void => {
    clearTimeout(end)
    report()
    const isDone = made.some(isListed) && !made.some(({ isAwaited }) => isAwaited)
    // A program that has nothing left to do ends earlier, by itself.
    if (isDone) end = setTimeout(() => process.exit(0), QUIET).unref()
  }
  subscribe('fastify.initialization', (message) => {
    if (!isInitialization(message)) return
    made.push(new WatchedApplication(message.fastify, onChange))
    onChange()
  })
  process.on('exit', (exitCode) => report({ exitCode, endedAt: Date.now() }))
}

function summary(made: readonly WatchedApplication[]): Omit<PolicyReport, 'startedAt'> {
  return {
    pid: process.pid,
    made: made.length,
    listened: made.filter(({ hasListened }) => hasListened).length,
    silent: made.filter(({ isGuarded, isAwaited }) => isGuarded && isAwaited).length,
    applications: made.filter(isListed).map((application): ListedRoute[] => application.routes()),
  }
}

function isListed({ hasListened, isGuarded }: WatchedApplication): boolean {
  return hasListened && isGuarded
}

function isInitialization(message: unknown): message is { fastify: FastifyInstance } {
  return isObject(message) && 'fastify' in message
}
