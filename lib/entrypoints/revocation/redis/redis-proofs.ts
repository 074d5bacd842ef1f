import { types } from 'node:util'
import { entryPointOptions } from '../../../config/option-reader.ts'
import { Custom, Text } from '../../../config/option-types.ts'
import { Unusable } from '../../../platform/http/failure.ts'
import { isObject } from '../../../platform/runtime/own-property.ts'
import { commandSender } from './clients.ts'

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

export interface RedisProofsOptions {
  /**
   * A client of ioredis, iovalkey or redis, for Redis or Valkey; also one of a cluster or of
   * sentinels. The application connects it, and closes it.
   */
  readonly client: RedisProofClient
  /**
   * The beginning of each key; a colon and the proof's own key follow. A `keyPrefix` of the client
   * comes before it. 1 to 512 characters. @default 'tenant-auth:proofs'
   */
  readonly key?: string
}

const MEMBERS = {
  client: Custom('a client of ioredis, iovalkey or redis', isRedisProofClient),
  key: Text('a text of 1 to 512 characters', { maxLength: 512, default: 'tenant-auth:proofs' }),
}

/**
 * Milliseconds for which a proof is held beyond its end. The clock of another process may be behind
 * ours by so much: there the proof is over later. Redis counts by a clock of its own, too.
 */
const LONGER = 60_000

/**
 * For the option `proofSeen`: the DPoP proofs that all processes have seen, in Redis or Valkey. It
 * never answers for a server that is away: the promise rejects, or is late, and the request is
 * answered with 503. A server that loses its data, or fails over to a replica that lags behind,
 * has not seen the proofs that it lost; nor has one that evicts keys, so that its `maxmemory-policy`
 * has to be `noeviction`.
 *
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options
 */
export function redisProofs(
  given: RedisProofsOptions,
): (key: string, until: Date) => Promise<boolean> {
  const { client, key } = entryPointOptions('redisProofs', given, MEMBERS).finish()
  const setOnce = setOnceBy(client)
  const send = commandSender()
  return async (proof, until) => {
    const end = types.isDate(until) ? until.getTime() : Number.NaN
    if (typeof proof !== 'string') throw new TypeError('the key of a proof is no string')
    if (Number.isNaN(end)) throw new TypeError('the end of a proof is no date')
    const milliseconds = Math.max(0, end - Date.now()) + LONGER
    const answer = await send(() => setOnce(`${key}:${proof}`, milliseconds))
    if (answer !== 'OK' && answer !== null) throw new Unusable('no answer to SET')
    // Null: the key was there. A client that lost its connection may send a command again which the
    // server has carried out: then a proof counts as seen at its first time. The request is refused,
    // and the next one has a new proof.
    return answer === 'OK'
  }
}

/** Sets a key that is not there, for so many milliseconds. Gives the client's answer. */
function setOnceBy(client: RedisProofClient): (key: string, time: number) => Promise<unknown> {
  if (!('withTypeMapping' in client)) {
    return (key, time) => client.set(key, '1', 'PX', time, 'NX')
  }
  // Its answers are texts, even if the application wants Buffers.
  const commands = client.withTypeMapping({})
  return (key, time) =>
    commands.set(key, '1', { expiration: { type: 'PX', value: time }, condition: 'NX' })
}

/**
 * A client of redis 4 is none, nor is one of Valkey GLIDE: they would take our words for no options,
 * and set a key that is there. Methods of clients are inherited.
 */
function isRedisProofClient(value: unknown): value is RedisProofClient {
  if (!isObject(value) || typeof value['set'] !== 'function') return false
  if (typeof value['withTypeMapping'] === 'function') return true
  return value['pSetEx'] === undefined && value['customCommand'] === undefined
}
