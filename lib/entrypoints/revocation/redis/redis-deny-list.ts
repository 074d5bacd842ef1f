import { entryPointOptions } from '../../../config/option-reader.ts'
import { Custom, Text } from '../../../config/option-types.ts'
import { type DenyList, denyListFunction } from '../deny-list-function.ts'
import { checkRules, type DenyListRules, RULES } from '../deny-list-options.ts'
import { isRedisClient, type RedisClient, streamOf } from './clients.ts'
import { streamSource } from './stream-source.ts'

/** The stream, and the rules of the list. */
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

const MEMBERS = {
  client: Custom('a client of ioredis, iovalkey or redis', isRedisClient),
  key: Text('a text of 1 to 512 characters', {
    maxLength: 512,
    default: 'tenant-auth:revocations',
  }),
  ...RULES,
}

/**
 * For the option `isRevoked`: a deny list whose entries are items of a stream in Redis or Valkey,
 * which all processes read. Entries that ended a day ago are deleted; one without `until` is stored
 * for 26 days, since any process may need it for so long.
 *
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options
 */
export function redisDenyList(given: RedisDenyListOptions): DenyList {
  const options = entryPointOptions('redisDenyList', given, MEMBERS)
  checkRules(options)
  const { client, key, ...rules } = options.finish()
  return denyListFunction(rules, streamSource(streamOf(client, key)))
}
