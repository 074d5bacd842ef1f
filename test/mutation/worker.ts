import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import { CollectedTests } from './collected-tests.ts'
import { coverageOf } from './coverage.ts'
import { HeardChannels } from './heard-channels.ts'
import { ModuleGraph } from './module-graph.ts'
import type { Answer, Task } from './task.ts'

// Runs test files in one process, each with all files of the repository loaded anew.

/** Milliseconds without anything to do after which a test waits for what never comes. */
const IDLE = 5000

/** By the event loop, which counts as busy where another process has taken the processor. */
let idleFrom: EventLoopUtilization | null = null

setInterval(() => {
  if (idleFrom === null) return
  const { idle, active } = performance.eventLoopUtilization(idleFrom)
  if (active > idle / 20) idleFrom = performance.eventLoopUtilization()
  else if (idle > IDLE) process.exit()
}, IDLE / 10).unref()

// A process that has nothing to wait for ends before node:test calls its test off. That would look
// as if the test had passed.
process.once('beforeExit', () => process.exit())

process.on('message', async (task: Task) => {
  process.channel?.unref()
  idleFrom = performance.eventLoopUtilization()
  const answer = await answerTo(task)
  idleFrom = null
  process.channel?.ref()
  process.send?.(answer)
})

async function answerTo({ test, changed, withCoverage }: Task): Promise<Answer> {
  const before = process.cpuUsage()
  const run = () => failureOf(test, changed)
  const { given, coverage } = withCoverage
    ? await coverageOf(run)
    : { given: await run(), coverage: null }
  const { user, system } = process.cpuUsage(before)
  return {
    ...{ failed: given, coverage },
    work: (user + system) / 1000,
    held: process.memoryUsage.rss(),
  }
}

async function failureOf(test: string, changed: Task['changed']): Promise<string | null> {
  const tests = new CollectedTests()
  const channels = new HeardChannels()
  const standIns = { 'node:test': tests.exports, 'node:diagnostics_channel': channels.exports }
  try {
    await new ModuleGraph(changed, standIns).run(test)
    return await tests.run()
  } catch (error) {
    return `not loaded: ${error}`
  } finally {
    channels.end()
  }
}
