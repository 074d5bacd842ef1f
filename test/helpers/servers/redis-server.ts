import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const PROGRAMS = ['redis-server', 'valkey-server']

/** The server program of this machine; undefined: there is none. */
export const redisProgram = PROGRAMS.find(
  (program) => spawnSync(program, ['--version']).status === 0,
)

/** Why a test that needs the program is skipped; false: it is there. */
export const withoutRedis =
  redisProgram === undefined && `neither ${PROGRAMS.join(' nor ')} is in PATH`

// A test that takes too long is ended by this signal, which would leave servers behind.
process.once('SIGTERM', () => process.exit(143))

/** Milliseconds until a started server must answer. */
const LIMIT = 20_000

/** A real server on a free port of loopback, in a temporary folder. */
export class RedisServer {
  readonly port: number
  readonly #folder: string
  readonly #args: readonly string[]
  #child: ChildProcess | undefined

  private constructor(port: number, folder: string, args: readonly string[]) {
    this.port = port
    this.#folder = folder
    this.#args = args
  }

  /**
   * Starts one. The caller must close it.
   *
   * @param isDurable whether each write is on the disk before it is answered; else a server that
   *   was killed starts empty
   * @param args more of the program's own, such as `--requirepass`
   */
  static async open(isDurable = false, args: readonly string[] = []): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'tenant-auth-redis-'))
    const durable = isDurable ? ['--appendonly', 'yes', '--appendfsync', 'always'] : []
    const server = new RedisServer(await freePort(), folder, [...durable, ...args])
    try {
      await server.start()
      return server
    } catch (error) {
      await server.close()
      throw error
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  get pid(): number {
    return this.#child?.pid ?? assert.fail('the server is not running')
  }

  /** Starts it again after `kill`, on the same port and in the same folder. */
  async start(): Promise<void> {
    assert.equal(this.#child, undefined, 'the server is running')
    const fixed = ['--bind', '127.0.0.1', '--port', `${this.port}`, '--dir', this.#folder]
    const args = [...fixed, '--save', '', '--logfile', 'server.log', ...this.#args]
    const child = spawn(redisProgram ?? assert.fail(`${withoutRedis}`), args, { stdio: 'ignore' })
    this.#child = child
    process.on('exit', this.#killAtOnce)
    const end = performance.now() + LIMIT
    while (!(await answers(this.port))) {
      if (child.exitCode === null && performance.now() < end) await wait(10)
      else assert.fail(`the server does not answer: ${await this.#log()}`)
    }
  }

  /** Ends its process, by default as `kill -9` does. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    process.off('exit', this.#killAtOnce)
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }

  /** The process stands still: connections stay open, and nothing is answered. */
  freeze(): void {
    process.kill(this.pid, 'SIGSTOP')
  }

  thaw(): void {
    process.kill(this.pid, 'SIGCONT')
  }

  /** Kills it, and deletes its folder. */
  async close(): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }

  readonly #killAtOnce = () => {
    this.#child?.kill('SIGKILL')
  }

  #log(): Promise<string> {
    return readFile(join(this.#folder, 'server.log'), 'utf8').catch(() => 'it has no log')
  }
}

async function freePort(): Promise<number> {
  const server = net.createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : assert.fail('no port')
}

/** Whether it answers, even that a password is missing. It does not while it loads. */
async function answers(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1')
  try {
    socket.write('PING\r\n')
    const [answer] = await once(socket, 'data', { signal: AbortSignal.timeout(1000) })
    return /^(?:\+PONG|-NOAUTH)/.test(String(answer))
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
