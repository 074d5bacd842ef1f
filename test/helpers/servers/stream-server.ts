import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'

interface Item {
  readonly id: string
  readonly fields: readonly string[]
}

/** Such as `['XADD', 'key', '*', …]`. */
type Request = readonly string[]

/** What the server answers: an error is one of the protocol. */
export type Reply = string | number | null | Error | readonly Reply[] | Map<string, Reply>

/**
 * What stands in for a server of Redis on loopback, as far as a deny list uses one: streams in
 * memory, over the real protocol, for the real clients.
 */
export class StreamServer {
  readonly #streams = new Map<string, Item[]>()
  readonly #sockets = new Set<net.Socket>()
  readonly #waiting = new Set<() => void>()
  #server: net.Server | undefined
  #isFrozen = false
  #frozen: (() => void)[] = []
  port = 0
  /** All commands that deal with a stream. */
  readonly asked: Request[] = []
  /** Another answer in place of the usual one. */
  override: (command: string) => Reply | undefined = () => undefined

  static async open(): Promise<StreamServer> {
    const server = new StreamServer()
    await server.start()
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** How many clients are connected. */
  get connections(): number {
    return this.#sockets.size
  }

  /** On the same port, without the data of before. */
  async start(): Promise<void> {
    this.#streams.clear()
    this.#server = net.createServer((socket) => this.#serve(socket))
    await once(this.#server.listen(this.port, '127.0.0.1'), 'listening')
    const address = this.#server.address()
    this.port = typeof address === 'object' && address !== null ? address.port : 0
  }

  async kill(): Promise<void> {
    const server = this.#server ?? assert.fail('the server is not running')
    server.close()
    for (const socket of this.#sockets) socket.destroy()
    await once(server, 'close')
  }

  async close(): Promise<void> {
    if (this.#server?.listening === true) await this.kill()
  }

  /** Connections stay open, and nothing is answered. */
  freeze(): void {
    this.#isFrozen = true
  }

  thaw(): void {
    this.#isFrozen = false
    for (const go of this.#frozen.splice(0)) go()
  }

  #serve(socket: net.Socket): void {
    const connection = { isResp3: false }
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket)).on('error', () => {})
    let last = Promise.resolve()
    const read = requestsOf((request) => {
      // One after the other, as a server does: a command that waits holds up the next ones.
      last = last.then(async () => {
        if (this.#isFrozen) await new Promise<void>((resolve) => this.#frozen.push(resolve))
        const reply = await this.#answer(request, connection)
        if (!socket.destroyed) socket.write(encode(reply, connection.isResp3))
      })
    })
    socket.on('data', read)
  }

  async #answer(request: Request, connection: { isResp3: boolean }): Promise<Reply> {
    const [name = '', ...args] = request
    const command = name.toUpperCase()
    const [key = ''] = args
    if (/^(?:X|DEL|FLUSH)/.test(command)) this.asked.push(request)
    const other = this.override(command)
    if (other !== undefined) return other
    const items = this.#streams.get(key) ?? []
    switch (command) {
      case 'HELLO':
        connection.isResp3 = key === '3'
        return new Map<string, Reply>([['proto', connection.isResp3 ? 3 : 2]])
      case 'INFO':
        return 'redis_version:7.0.0\r\nloading:0\r\n'
      case 'CLUSTER':
        // It is the only one of its cluster.
        return [[0, 16_383, ['127.0.0.1', this.port]]]
      case 'FLUSHALL':
        this.#streams.clear()
        return 'OK'
      case 'DEL':
        return this.#streams.delete(key) ? 1 : 0
      case 'XLEN':
        return items.length
      case 'XADD':
        return this.#add(key, items, args[1] ?? '', args.slice(2))
      case 'XDEL':
        this.#streams.set(
          key,
          items.filter(({ id }) => !args.includes(id)),
        )
        return items.filter(({ id }) => args.includes(id)).length
      case 'XRANGE':
        return items
          .filter(({ id }) => args[1] === '-' || order(id, args[1] ?? '') >= 0)
          .slice(0, Number(args[4]))
          .map(({ id, fields }) => [id, fields])
      case 'XREAD':
        return this.#read(args, connection.isResp3)
      default:
        return 'OK'
    }
  }

  #add(key: string, items: readonly Item[], wanted: string, fields: readonly string[]): Reply {
    const last = items.at(-1)?.id ?? '0-0'
    const now = `${Date.now()}-0`
    const [time = '', count = ''] = last.split('-')
    const next = order(now, last) > 0 ? now : `${time}-${Number(count) + 1}`
    const id = wanted === '*' ? next : wanted
    if (order(id, last) <= 0) return new Error('ERR The ID specified in XADD is too small')
    this.#streams.set(key, [...items, { id, fields }])
    for (const look of this.#waiting) look()
    return id
  }

  /** `COUNT 1 BLOCK milliseconds STREAMS key id`, in any order of the options. */
  async #read(args: readonly string[], isResp3: boolean): Promise<Reply> {
    const upper = args.map((each) => each.toUpperCase())
    const at = upper.indexOf('STREAMS')
    const [key = '', from = ''] = args.slice(at + 1)
    const next = () => (this.#streams.get(key) ?? []).find(({ id }) => order(id, from) > 0)
    await new Promise<void>((resolve) => {
      const look = () => {
        if (next() !== undefined) end()
      }
      const end = () => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve()
      }
      const timer = setTimeout(end, Number(args[upper.indexOf('BLOCK') + 1])).unref()
      this.#waiting.add(look)
      look()
    })
    const item = next()
    if (item === undefined) return null
    const found = [[item.id, item.fields]]
    return isResp3 ? new Map([[key, found]]) : [[key, found]]
  }
}

/** Of two ids; below zero: the first one is the earlier one. */
function order(a: string, b: string): number {
  const [time = 0, count = 0] = a.split('-').map(Number)
  const [otherTime = 0, otherCount = 0] = b.split('-').map(Number)
  return time - otherTime || count - otherCount
}

function encode(reply: Reply, isResp3: boolean): string {
  const all = (items: readonly Reply[]) => items.map((item) => encode(item, isResp3)).join('')
  if (reply === null) return isResp3 ? '_\r\n' : '*-1\r\n'
  if (reply instanceof Error) return `-${reply.message}\r\n`
  if (typeof reply === 'number') return `:${reply}\r\n`
  if (typeof reply === 'string') return `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`
  if (!(reply instanceof Map)) return `*${reply.length}\r\n${all(reply)}`
  return `${isResp3 ? `%${reply.size}` : `*${reply.size * 2}`}\r\n${all([...reply].flat())}`
}

/** Reads requests of the protocol of Redis, in parts as they come: lists of texts. */
function requestsOf(onRequest: (request: readonly string[]) => void) {
  let rest = Buffer.alloc(0)
  return (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (let found = takeOne(rest); found !== undefined; found = takeOne(rest)) {
      rest = rest.subarray(found.end)
      onRequest(found.request)
    }
  }
}

/** The first request, and where it ends; undefined: it is not all there. */
function takeOne(bytes: Buffer): { request: string[]; end: number } | undefined {
  let at = 0
  const number = (mark: string): number | undefined => {
    const end = bytes.indexOf('\r\n', at)
    if (end === -1) return undefined
    const line = bytes.toString('utf8', at, end)
    assert.equal(line[0], mark, `no request: ${line}`)
    at = end + 2
    return Number(line.slice(1))
  }
  const size = number('*')
  if (size === undefined) return undefined
  const request: string[] = []
  while (request.length < size) {
    const length = number('$')
    if (length === undefined || bytes.length < at + length + 2) return undefined
    request.push(bytes.toString('utf8', at, at + length))
    at += length + 2
  }
  return { request, end: at }
}
