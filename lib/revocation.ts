export type { Changes, DenyEntry, GivenEntry, KeptEntry } from './deny-list/deny-entry.ts'
export { type DenyListOptions, denyList } from './deny-list/deny-list.ts'
export type { DenyList } from './deny-list/deny-list-function.ts'
export type { DenyListRules } from './deny-list/deny-list-options.ts'
export { type PostgresDenyListOptions, postgresDenyList } from './deny-stores/postgres-deny-list.ts'
export type { PostgresPool, PostgresQuestion } from './deny-stores/postgres-pool.ts'
export type {
  IoredisClient,
  NodeRedisClient,
  NodeRedisCommands,
  RedisClient,
} from './deny-stores/redis-client.ts'
export { type RedisDenyListOptions, redisDenyList } from './deny-stores/redis-deny-list.ts'
