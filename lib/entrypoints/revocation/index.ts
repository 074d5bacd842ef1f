/** @module revocation */

export type { ProofTable } from '../../identity/proofs/proof-table.ts'
export {
  type BackchannelLogoutOptions,
  backchannelLogout,
  type LogoutEvent,
} from './backchannel-logout.ts'
export { type DenyList, type DenyListOptions, denyList } from './deny-list.ts'
export type { DenyListRules } from './deny-list-options.ts'
export type { Changes, DenyEntry, GivenEntry, KeptEntry } from './entry.ts'
export { type PostgresDenyListOptions, postgresDenyList } from './postgres/postgres-deny-list.ts'
export type { PostgresPool, PostgresQuestion } from './postgres/table-source.ts'
export { type ProofTableOptions, proofTable } from './proofs.ts'
export type {
  IoredisClient,
  NodeRedisClient,
  NodeRedisCommands,
  RedisClient,
} from './redis/clients.ts'
export { type RedisDenyListOptions, redisDenyList } from './redis/redis-deny-list.ts'
export {
  type IoredisProofClient,
  type NodeRedisProofClient,
  type NodeRedisProofCommands,
  type RedisProofClient,
  type RedisProofsOptions,
  redisProofs,
} from './redis/redis-proofs.ts'
