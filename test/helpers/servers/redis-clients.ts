import { Redis } from 'ioredis'
import { Redis as Valkey } from 'iovalkey'
import { createClient, RESP_TYPES } from 'redis'
import type { RedisClient, RedisProofClient } from '../../../lib/entrypoints/revocation/index.ts'

/** A client as an application has it. */
export interface OpenClient {
  readonly client: RedisClient & RedisProofClient
  send(name: string, ...args: string[]): Promise<unknown>
  close(): void
}

/** Milliseconds until a client of an application connects again. */
const RETRY = 50

/** The clients that are tried, with the settings that change what answers look like. */
export const CLIENTS: [name: string, connect: (url: string) => Promise<OpenClient>][] = [
  ['ioredis', async (url) => ofIoredis(new Redis(url, { retryStrategy: () => RETRY }))],
  [
    'ioredis with RESP3',
    async (url) =>
      ofIoredis(new Redis(url, { protocol: 3, replyMapping: 'resp3', retryStrategy: () => RETRY })),
  ],
  ['iovalkey', async (url) => ofIoredis(new Valkey(url, { retryStrategy: () => RETRY }))],
  ['redis', (url) => ofNodeRedis(createClient({ url, socket: { reconnectStrategy: RETRY } }))],
  [
    'redis with RESP2 and Buffers',
    (url) =>
      ofNodeRedis(
        createClient({
          url,
          RESP: 2,
          socket: { reconnectStrategy: RETRY },
          commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
        }),
      ),
  ],
]

function ofIoredis(client: Redis | Valkey): OpenClient {
  // As an application does: an error without a listener would end it.
  client.on('error', () => {})
  return {
    client,
    send: (name, ...args) => client.call(name, ...args),
    close: () => client.disconnect(),
  }
}

async function ofNodeRedis(
  client: RedisClient &
    RedisProofClient & {
      on(event: 'error', listener: () => void): unknown
      connect(): Promise<unknown>
      sendCommand(args: string[]): Promise<unknown>
      destroy(): void
    },
): Promise<OpenClient> {
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    // It would try again and again.
    client.destroy()
    throw error
  }
  return {
    client,
    send: (name, ...args) => client.sendCommand([name, ...args]),
    close: () => client.destroy(),
  }
}
