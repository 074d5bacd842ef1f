import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { DenyEntry, DenyListRules } from '../../../lib/entrypoints/revocation/index.ts'
import { createTestAuthority } from '../../../lib/entrypoints/testing/index.ts'
import type { EntryStore } from '../servers/entry-stores.ts'
import { LOADER, onceBundled } from './program.ts'

const PROGRAM = onceBundled('guarded-app')

/** Where the entries are kept that all processes share. */
export type Store = Pick<EntryStore, 'store' | 'url'>

const authority = await createTestAuthority()

/** A process of its own, with a whole guarded application. */
export class GuardedProcess {
  readonly #child: ChildProcess
  readonly #address: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 50 })

  constructor(child: ChildProcess, address: string) {
    this.#child = child
    this.#address = address
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** The status of the answer to a token of this user, which is the same each time. */
  async statusFor(sub: string): Promise<number> {
    return this.#ask('GET', '/', await headersOf(sub))
  }

  /** The status of the answer to a token of another issuer. */
  statusOf(token: string): Promise<number> {
    return this.#ask('GET', '/', { authorization: `Bearer ${token}` })
  }

  /** The status of the answer to an entry that is added: 200, or 503 where it may not be kept. */
  async add(entry: DenyEntry): Promise<number> {
    const headers = { 'content-type': 'application/json' }
    return this.#ask('POST', '/revoked', headers, JSON.stringify(entry))
  }

  async end(): Promise<void> {
    this.#agent.destroy()
    if (!this.isAlive) return
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }

  async #ask(method: string, path: string, headers: Headers, body = ''): Promise<number> {
    const options = { method, headers, agent: this.#agent, timeout: 60_000 }
    const asked = request(new URL(path, this.#address), options).end(body)
    asked.once('timeout', () => asked.destroy(new Error('no answer within a minute')))
    const [response] = await once(asked, 'response')
    await text(response)
    return response.statusCode
  }
}

type Headers = Readonly<Record<string, string>>

const known = new Map<string, Promise<Headers>>()

/** A token of an hour. */
function headersOf(sub: string): Promise<Headers> {
  const made =
    known.get(sub) ?? authority.headers({ sub }, { expiresIn: 3600 }).then((it) => ({ ...it }))
  known.set(sub, made)
  return made
}

/** What an authorization server has to do with the processes. */
export interface Logouts {
  readonly issuer: { readonly issuer: string; readonly audience: string; readonly tenants: '*' }
  /** The clients whose users it logs out. */
  readonly clients: readonly string[]
  /** Where the first process listens. */
  readonly port: number
}

/** So many processes with one deny list, each of which is ready. */
export async function startProcesses(
  count: number,
  store: Store,
  rules: Partial<DenyListRules>,
  logouts?: Logouts,
): Promise<GuardedProcess[]> {
  const processes = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      startProcess(store, rules, logouts && { ...logouts, port: index === 0 ? logouts.port : 0 }),
    ),
  )
  for (const process of processes) await answers(process, 'somebody', 200)
  return processes
}

async function startProcess(
  store: Store,
  rules: Partial<DenyListRules>,
  logouts?: Logouts,
): Promise<GuardedProcess> {
  const { store: kind, url } = store
  const { clients, port, issuer } = logouts ?? {}
  const options = issuer
    ? { issuers: [authority.issuerRules({ tenants: '*' }), issuer] }
    : authority.options
  const task = JSON.stringify({ store: kind, url, rules, options, clients, port })
  const child = fork(PROGRAM, [task], {
    execArgv: [...LOADER, '--unhandled-rejections=strict'],
  })
  const ended = once(child, 'exit').then(([code]) => assert.fail(`it ended with ${code}`))
  const [{ address }] = await Promise.race([once(child, 'message'), ended])
  ended.catch(() => {})
  return new GuardedProcess(child, address)
}

/** Resolves when a process answers so to a token of this user; within so many milliseconds. */
export async function answers(
  process: GuardedProcess,
  sub: string,
  status: number,
  limit = 60_000,
): Promise<void> {
  const end = performance.now() + limit
  for (;;) {
    const actual = await process.statusFor(sub)
    if (actual === status) return
    assert.ok(performance.now() < end, `${actual} for ${sub}, and never ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
