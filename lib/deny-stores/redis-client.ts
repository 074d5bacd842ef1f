/** What is needed of a client of the packages ioredis and iovalkey, also of a cluster. */
export interface IoredisClient {
  readonly isCluster: boolean
  /** Of a connection; it keeps the process alive. */
  readonly stream?: { unref?(): unknown } | undefined
  xadd(key: string, id: string, field: string, value: string): Promise<unknown>
  xdel(key: string, ...ids: string[]): Promise<unknown>
  xrange(key: string, start: string, end: string, token: 'COUNT', count: number): Promise<unknown>
  xread(
    countToken: 'COUNT',
    count: number,
    blockToken: 'BLOCK',
    milliseconds: number,
    streamsToken: 'STREAMS',
    key: string,
    id: string,
  ): Promise<unknown>
  /** Of a cluster: the options are the second argument. */
  duplicate(options?: object, clusterOptions?: object): IoredisClient
  on(event: ConnectionEvent, listener: () => void): unknown
  connect(): Promise<unknown>
  disconnect(): unknown
}

/** What is needed of a client of the package redis, also of a cluster or of sentinels. */
export interface NodeRedisClient extends NodeRedisCommands {
  withTypeMapping(mapping: Record<never, never>): NodeRedisCommands
  duplicate(): NodeRedisClient
  on(event: ConnectionEvent, listener: () => void): unknown
  connect(): Promise<unknown>
  destroy(): unknown
  unref?(): unknown
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
  xRead(
    stream: { readonly key: string; readonly id: string },
    options: { readonly COUNT: number; readonly BLOCK: number },
  ): Promise<unknown>
}

/** The client of an application for Redis or Valkey. */
export type RedisClient = IoredisClient | NodeRedisClient

/** After each of them a connection is lost. Not all clients emit all of them. */
export type ConnectionEvent = 'error' | 'close' | 'end'

export const CONNECTION_EVENTS = ['error', 'close', 'end'] as const
