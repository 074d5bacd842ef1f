import { Unusable } from '../../../platform/http/failure.ts'
import { ownProperty } from '../../../platform/runtime/own-property.ts'

/** One stream of a server, by one of the clients. */
export interface RedisStream {
  /** The oldest items from an id on, which is included. */
  range(from: string, most: number): Promise<StreamItem[]>
  /** Returns its id, which begins with the server's time in milliseconds. */
  add(text: string): Promise<string>
  delete(ids: readonly string[]): Promise<void>
}

export interface StreamItem {
  readonly id: string
  /** Null: it was not made by `add`. */
  readonly text: string | null
}

/** The field of an item that holds an entry. */
const FIELD = 'entry'

/** Before all ids. */
export const FIRST_ID = '0-0'

/** @throws Unusable */
function readId(value: unknown): string {
  if (typeof value === 'string' && /^\d{1,20}-\d{1,20}$/.test(value)) return value
  throw new Unusable('no id of a stream')
}

/** @throws Unusable */
function readReply(reply: unknown): unknown[] {
  if (Array.isArray(reply)) return reply
  throw new Unusable('no items of a stream')
}

/** What is needed of a client of the packages ioredis and iovalkey, also of a cluster. */
export interface IoredisClient {
  xadd(key: string, id: string, field: string, value: string): Promise<unknown>
  xdel(key: string, ...ids: string[]): Promise<unknown>
  xrange(key: string, start: string, end: string, token: 'COUNT', count: number): Promise<unknown>
}

/** What is needed of a client of the package redis, also of a cluster or of sentinels. */
export interface NodeRedisClient extends NodeRedisCommands {
  withTypeMapping(mapping: Record<never, never>): NodeRedisCommands
}

export interface NodeRedisCommands {
  xAdd(key: string, id: string, message: Record<string, string>): Promise<unknown>
  xDel(key: string, ids: string[]): Promise<unknown>
  xRange(
    key: string,
    start: string,
    end: string,
    options: { readonly COUNT: number },
  ): Promise<unknown>
}

/** The client of an application for Redis or Valkey. */
export type RedisClient = IoredisClient | NodeRedisClient

/** A stream by a client of ioredis or iovalkey. */
export class IoredisStream implements RedisStream {
  readonly #client: IoredisClient
  readonly #key: string

  constructor(client: IoredisClient, key: string) {
    this.#client = client
    this.#key = key
  }

  async range(from: string, most: number): Promise<StreamItem[]> {
    const reply = await this.#client.xrange(this.#key, from, '+', 'COUNT', most)
    return readReply(reply).map(readIoredisItem)
  }

  async add(text: string): Promise<string> {
    return readId(await this.#client.xadd(this.#key, '*', FIELD, text))
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.#client.xdel(this.#key, ...ids)
  }
}

/** An id with a list of fields and values. */
function readIoredisItem(item: unknown): StreamItem {
  if (!Array.isArray(item) || !Array.isArray(item[1])) throw new Unusable('no item of a stream')
  const [field, text] = item[1]
  const isOurs = field === FIELD && typeof text === 'string'
  return { id: readId(item[0]), text: isOurs ? text : null }
}

/** A stream by a client of the package redis. */
export class NodeRedisStream implements RedisStream {
  /** Whose answers hold texts and objects, even where the application wants others. */
  readonly #commands: NodeRedisCommands
  readonly #key: string

  constructor(client: NodeRedisClient, key: string) {
    this.#commands = client.withTypeMapping({})
    this.#key = key
  }

  async range(from: string, most: number): Promise<StreamItem[]> {
    return readReply(await this.#commands.xRange(this.#key, from, '+', { COUNT: most })).map(
      readNodeRedisItem,
    )
  }

  async add(text: string): Promise<string> {
    return readId(await this.#commands.xAdd(this.#key, '*', { [FIELD]: text }))
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.#commands.xDel(this.#key, [...ids])
  }
}

/** An id with an object of fields. */
function readNodeRedisItem(item: unknown): StreamItem {
  const { id, message }: Record<string, unknown> = Object(item)
  const text = ownProperty(Object(message), FIELD)
  return { id: readId(id), text: typeof text === 'string' ? text : null }
}
