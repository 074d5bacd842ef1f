import { Unusable } from '../outside/unusable.ts'
import { CONNECTION_EVENTS, type IoredisClient } from './redis-client.ts'
import { FIELD, type OwnStream, readId, readReply, type StreamItem } from './redis-stream.ts'

/**
 * For a connection that waits for messages: it is opened by hand, waits for a blocking answer as
 * long as we do, and is given up when it is lost, rather than opened again.
 */
const OWN = {
  lazyConnect: true,
  commandTimeout: undefined,
  retryStrategy: null,
  clusterRetryStrategy: null,
}

/** A stream by a client of ioredis or iovalkey. */
export class IoredisStream implements OwnStream {
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

  async hasBeyond(id: string, milliseconds: number): Promise<boolean> {
    const block = ['BLOCK', milliseconds, 'STREAMS', this.#key, id] as const
    return (await this.#client.xread('COUNT', 1, ...block)) !== null
  }

  duplicate(): OwnStream {
    const client = this.#client
    const own = client.isCluster ? client.duplicate([], OWN) : client.duplicate(OWN)
    return new IoredisStream(own, this.#key)
  }

  async open(): Promise<void> {
    await this.#client.connect()
    this.#client.stream?.unref?.()
  }

  onLost(listener: () => void): void {
    for (const event of CONNECTION_EVENTS) this.#client.on(event, listener)
  }

  close(): void {
    this.#client.disconnect()
  }
}

/** An id with a list of fields and values. */
function readItem(item: unknown): StreamItem {
  if (!Array.isArray(item) || !Array.isArray(item[1])) throw new Unusable('no item of a stream')
  const [field, text] = item[1]
  const isOurs = field === FIELD && typeof text === 'string'
  return { id: readId(item[0]), text: isOurs ? text : null }
}
