import { ownProperty } from '../outside/own-property.ts'
import type { NodeRedisClient, NodeRedisCommands } from './redis-client.ts'
import { FIELD, type RedisStream, readId, readReply, type StreamItem } from './redis-stream.ts'

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
      readItem,
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
function readItem(item: unknown): StreamItem {
  const { id, message }: Record<string, unknown> = Object(item)
  const text = ownProperty(Object(message), FIELD)
  return { id: readId(id), text: typeof text === 'string' ? text : null }
}
