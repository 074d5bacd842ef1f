import { type DenyList, denyListFunction } from '../deny-list/deny-list-function.ts'
import { type DenyListRules, RULES, readDenyListRules } from '../deny-list/deny-list-options.ts'
import { isObject } from '../outside/is-object.ts'
import { DoorOptions, type Kind } from '../settings/door-options.ts'
import { IoredisStream } from './ioredis-stream.ts'
import { NodeRedisStream } from './node-redis-stream.ts'
import type { IoredisClient, NodeRedisClient, RedisClient } from './redis-client.ts'
import type { RedisStream } from './redis-stream.ts'
import { RevocationsStream } from './revocations-stream.ts'

/** Where the stream is, and how the list is kept. */
export interface RedisDenyListOptions extends Partial<DenyListRules> {
  /**
   * A client of ioredis, iovalkey or redis, for Redis 5 or newer, or Valkey; also one of a cluster
   * or of sentinels. The application connects it, and closes it.
   */
  readonly client: RedisClient
  /**
   * The stream; a `keyPrefix` of the client comes before it. 1 to 512 characters. @default
   * 'tenant-auth:revocations'
   */
  readonly key?: string
}

const CLIENT: Kind<(key: string) => RedisStream> = {
  expected: 'a client of ioredis, iovalkey or redis',
  read: (client) => {
    if (isIoredisClient(client)) return (key) => new IoredisStream(client, key)
    return isNodeRedisClient(client) ? (key) => new NodeRedisStream(client, key) : null
  },
}

const KEY: Kind<string> = {
  expected: 'a text of 1 to 512 characters',
  read: (value) =>
    typeof value === 'string' && value.length >= 1 && value.length <= 512 ? value : null,
}

/**
 * For the option `isRevoked`: a deny list whose entries are items of a stream in Redis or Valkey,
 * which all processes read. Entries that ended a day ago are deleted; one without `until` is kept
 * for 26 days, since any process may need it for so long.
 *
 * @throws ERR_AUTH_CONFIG_INVALID which tells all problems of the options
 */
export function redisDenyList(given: RedisDenyListOptions): DenyList {
  const options = new DoorOptions('redisDenyList', given, ['client', 'key', ...RULES])
  const streamOf = options.read('client', CLIENT)
  const key = options.has('key') ? options.read('key', KEY) : null
  const rules = readDenyListRules(options)
  options.throwIfAny()
  const stream = streamOf?.(key ?? 'tenant-auth:revocations')
  return denyListFunction(rules, stream && new RevocationsStream(stream))
}

/** Their methods are inherited ones. */
function isIoredisClient(value: unknown): value is IoredisClient {
  return hasMethods(value, ['xadd', 'xdel', 'xrange'])
}

function isNodeRedisClient(value: unknown): value is NodeRedisClient {
  return hasMethods(value, ['xAdd', 'xDel', 'xRange', 'withTypeMapping'])
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof value[name] === 'function')
}
