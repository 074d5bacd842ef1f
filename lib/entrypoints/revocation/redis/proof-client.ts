import { isObject } from '../../../platform/runtime/own-property.ts'

/** The needed part of a client of ioredis or iovalkey, also of a cluster. */
export interface IoredisProofClient {
  set(key: string, value: string, unit: 'PX', milliseconds: number, when: 'NX'): Promise<unknown>
}

/** The needed part of a client of the package redis, also of a cluster or of sentinels. */
export interface NodeRedisProofClient {
  withTypeMapping(mapping: Record<never, never>): NodeRedisProofCommands
}

export interface NodeRedisProofCommands {
  set(
    key: string,
    value: string,
    options: {
      readonly expiration: { readonly type: 'PX'; readonly value: number }
      readonly condition: 'NX'
    },
  ): Promise<unknown>
}

/** The client of an application for Redis or Valkey. */
export type RedisProofClient = IoredisProofClient | NodeRedisProofClient

/**
 * A client of redis 4 is none: it would take our words for no options, and set a key that is there.
 * Methods of clients are inherited.
 */
export function isRedisProofClient(value: unknown): value is RedisProofClient {
  if (!isObject(value) || typeof value['set'] !== 'function') return false
  return typeof value['withTypeMapping'] === 'function' || value['pSetEx'] === undefined
}

/** Sets a key that is not there, for so many milliseconds. Returns the client's answer. */
export type SetOnce = (key: string, milliseconds: number) => Promise<unknown>

export function setOnceBy(client: RedisProofClient): SetOnce {
  if (!('withTypeMapping' in client)) {
    return (key, milliseconds) => client.set(key, '1', 'PX', milliseconds, 'NX')
  }
  // Its answers are texts, even if the application wants Buffers.
  const commands = client.withTypeMapping({})
  return (key, milliseconds) =>
    commands.set(key, '1', {
      expiration: { type: 'PX', value: milliseconds },
      condition: 'NX',
    })
}
