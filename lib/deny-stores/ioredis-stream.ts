import { Unusable } from '../outside/unusable.ts'
import type { IoredisClient } from './redis-client.ts'
import { FIELD, type RedisStream, readId, readReply, type StreamItem } from './redis-stream.ts'

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
    return readReply(reply).map(readItem)
  }

  async add(text: string): Promise<string> {
    return readId(await this.#client.xadd(this.#key, '*', FIELD, text))
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.#client.xdel(this.#key, ...ids)
  }
}

/** An id with a list of fields and values. */
function readItem(item: unknown): StreamItem {
  if (!Array.isArray(item) || !Array.isArray(item[1])) throw new Unusable('no item of a stream')
  const [field, text] = item[1]
  const isOurs = field === FIELD && typeof text === 'string'
  return { id: readId(item[0]), text: isOurs ? text : null }
}
