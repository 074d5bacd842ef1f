import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { portOf } from './asked-server.ts'
import { findCommand, serverUser } from './commands.ts'

/** Milliseconds within which a server answers. */
const LIMIT = 60_000

interface Program {
  readonly command: string
  readonly args: readonly string[]
  /** Rejects while the server does not answer yet. */
  readonly ask: () => Promise<unknown>
}

/** A process that may have ended. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}

/** A folder in which a server keeps its data, as the user that it runs as. */
export function serverFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tenant-auth-server-'))
  const user = serverUser()
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  return folder
}

/** A port of loopback on which no server listens. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await portOf(server)
  server.close()
  await once(server, 'close')
  return port
}

/** A server that a test starts, kills, and starts again on the same data. */
export class OwnServer {
  readonly #folder: string
  readonly #program: Program
  #child: ChildProcess | undefined
  readonly #onExit = () => void this.#child?.kill('SIGKILL')

  constructor(folder: string, program: Program) {
    this.#folder = folder
    this.#program = program
    process.once('exit', this.#onExit)
  }

  /** Resolves when it answers. What is left of a killed server may make it give up at first. */
  async start(): Promise<void> {
    const end = performance.now() + LIMIT
    for (;;) {
      if (this.#child === undefined) this.#spawn()
      const failure = await this.#program.ask().then(
        () => undefined,
        (error: unknown) => error,
      )
      if (failure === undefined && this.#child !== undefined) return
      assert.ok(performance.now() < end, `${this.#program.command} does not answer: ${failure}`)
      await setTimeout(20)
    }
  }

  /** All at once, as a machine that loses its power: the processes too that the server has. */
  async kill(): Promise<void> {
    const pid = this.#child?.pid
    if (pid === undefined) return
    const others = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number)
    const ended = this.stop('SIGKILL')
    for (const other of others) if (other > 0) kill(other)
    await ended
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  async close(): Promise<void> {
    process.off('exit', this.#onExit)
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }

  #spawn(): void {
    const { command, args } = this.#program
    const path = findCommand(command) ?? assert.fail(`${command} is not installed`)
    const child = spawn(path, args, { stdio: 'ignore', cwd: this.#folder, ...serverUser() })
    this.#child = child
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined
    })
  }
}
