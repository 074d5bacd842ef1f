import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import { isObject } from '../../../platform/runtime/own-property.ts'
import { WatchedApplication } from './fake-listen.ts'
import {
  COUNT_VARIABLE,
  FOLDER_VARIABLE,
  observedApplications,
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
 * @param count how many guarded applications of all processes are waited for
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
      if (observedApplications(readReports(folder)).length < count) endSoon()
      else process.exit(0)
    }, QUIET).unref()
  }
  const onChange = (): void => {
    clearTimeout(end)
    report()
    if (made.some(isListed) && !made.some(({ isAwaited }) => isAwaited)) endSoon()
  }
  subscribe('fastify.initialization', (message) => {
    if (!isInitialization(message)) return
    made.push(new WatchedApplication(message.fastify, onChange))
    onChange()
  })
  process.on('exit', (exitCode) => report({ exitCode, endedAt: Date.now() }))
}

function summary(made: readonly WatchedApplication[]): Omit<PolicyReport, 'startedAt'> {
  const listening = made.filter(({ hasListened }) => hasListened)
  const listed = made.filter(isListed)
  const awaited = made.filter(({ isAwaited }) => isAwaited)
  return {
    pid: process.pid,
    made: made.length,
    listened: listening.length,
    silent: awaited.filter(({ isGuarded }) => isGuarded).length,
    awaited: awaited.length,
    applications: listed.map((application) => application.routes()),
    beside: listed.map((application) => application.uncovered()),
    unguarded: listening
      .filter(({ isGuarded }) => !isGuarded)
      .map((application) => application.uncovered())
      .filter(({ length }) => length > 0),
    isInDevMode: listed.some(({ isInDevMode }) => isInDevMode),
  }
}

function isListed({ hasListened, isGuarded }: WatchedApplication): boolean {
  return hasListened && isGuarded
}

function isInitialization(message: unknown): message is { fastify: FastifyInstance } {
  return isObject(message) && 'fastify' in message
}

// `node --import` loads this into each process of an application whose policies are asked for.
const folder = process.env[FOLDER_VARIABLE]
if (folder !== undefined) watchProcess(folder, Number(process.env[COUNT_VARIABLE] ?? 0))
