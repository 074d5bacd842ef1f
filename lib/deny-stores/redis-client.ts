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
