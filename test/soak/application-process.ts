import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import type { Measured, Order, Ordered, Report, Task } from './orders.ts'
import type { Sent } from './personas.ts'

/** It loads the sources of a package, so it is one itself. */
const PROGRAM = resolve('test/soak/application.ts')

/** Milliseconds for an answer, and for the end of a process. */
const LIMIT = 20_000

/** An answer of the application. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

type Done = boolean | Measured

/** A process of the application, as the soak has it. */
export class ApplicationProcess {
  readonly #child: ChildProcess
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 100, maxFreeSockets: 4 })
  readonly #open = new Map<number, (answer: Done) => void>()
  #address = ''
  #serial = 0

  private constructor(child: ChildProcess, onReport: (report: Report) => void) {
    this.#child = child
    child.on('message', (report: Report) => {
      if (report.kind === 'listening') this.#address = report.address
      onReport(report)
      if (report.kind !== 'done') return
      this.#open.get(report.id)?.(report.answer)
      this.#open.delete(report.id)
    })
    child.once('exit', () => {
      for (const resolve of this.#open.values()) resolve(false)
    })
  }

  static async start(task: Task, onReport: (report: Report) => void): Promise<ApplicationProcess> {
    const child = fork(PROGRAM, [JSON.stringify(task)], {
      execArgv: ['--import', 'tsx', '--expose-gc', '--unhandled-rejections=strict'],
    })
    const started = new ApplicationProcess(child, onReport)
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`a process ended with ${code}`)
    })
    ended.catch(() => {})
    while (started.#address === '') await Promise.race([once(child, 'message'), ended])
    return started
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Resolves when the process has done it; to false too where it has ended. */
  async carryOut(order: Order): Promise<Done> {
    if (!this.isAlive || !this.#child.connected) return false
    this.#serial += 1
    const id = this.#serial
    const done = new Promise<Done>((resolve) => this.#open.set(id, resolve))
    const ordered: Ordered = { id, order }
    this.#child.send(ordered)
    return done
  }

  /** Undefined where it has ended. */
  async measure(): Promise<Measured | undefined> {
    const measured = await this.carryOut({ do: 'measure' })
    return typeof measured === 'boolean' ? undefined : measured
  }

  /** A body is sent by POST. */
  async ask(sent: Omit<Sent, 'ask'>): Promise<Answer> {
    const { path, headers, body } = sent
    const asked = request(new URL(path, this.#address), {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      agent: this.#agent,
      timeout: LIMIT,
    })
    asked.once('timeout', () => asked.destroy(new Error('no answer')))
    asked.end(body)
    const [response] = await once(asked, 'response').catch((error: unknown) => {
      // The server may end an idle connection at the moment in which it is used again.
      if (!asked.reusedSocket || Object(error).code !== 'ECONNRESET') throw error
      return []
    })
    if (response === undefined) return this.ask(sent)
    return { status: response.statusCode, headers: response.headers, body: await text(response) }
  }

  /** Lets go of it. Null: it has ended by itself, well and in time; else what it did. */
  async end(): Promise<string | null> {
    this.#agent.destroy()
    if (!this.isAlive) return 'has ended before its time'
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    const late = wait(LIMIT, 'late', { ref: false })
    if ((await Promise.race([ended, late])) === 'late') this.#child.kill('SIGKILL')
    await ended
    const { exitCode, signalCode } = this.#child
    return exitCode === 0 ? null : `has ended with ${exitCode ?? signalCode}`
  }
}
