import Fastify from 'fastify'
import { tenantAuth } from 'fastify-tenant-auth'
import * as door from 'fastify-tenant-auth/revocation'
import { Cluster, Redis } from 'ioredis'
import { Redis as Valkey, Cluster as ValkeyCluster } from 'iovalkey'
import pg from 'pg'
import { createClient, createCluster, createSentinel } from 'redis'
import { expectType, expectTypes } from './expect-type.ts'

const { backchannelLogout, denyList, postgresDenyList, redisDenyList } = door
const { proofTable, redisProofs } = door

// Prevents a function that is taken away unnoticed.
expectTypes<
  keyof typeof door,
  | 'backchannelLogout'
  | 'denyList'
  | 'postgresDenyList'
  | 'proofTable'
  | 'redisDenyList'
  | 'redisProofs'
>()

const until = new Date()
const pool = new pg.Pool()
const lazy = { lazyConnect: true }
const sentinel = { name: 'main', sentinelRootNodes: [] }

// Prevents a list that does not fit where tokens are asked of.
const all: door.DenyList[] = [
  denyList(),
  denyList({ interval: 1, maxStale: 9, whenStale: 'admit', maxEntries: 1, maxLifetime: 1 }),
  denyList({
    changes: (cursor: string | null) => ({ entries: [{ sub: 'a', until }], cursor: `${cursor}` }),
    append: async (entry) => JSON.stringify(entry.until?.toISOString()),
  }),
  postgresDenyList({ pool }),
  postgresDenyList({ pool, table: 'revoked', createTable: true, interval: 1 }),
  redisDenyList({ client: new Redis(lazy), key: 'revoked', interval: 1 }),
  redisDenyList({ client: new Redis({ ...lazy, protocol: 3, replyMapping: 'resp3' }) }),
  redisDenyList({ client: new Cluster([], lazy) }),
  redisDenyList({ client: new Valkey(lazy) }),
  redisDenyList({ client: new ValkeyCluster([], lazy) }),
  redisDenyList({ client: createClient() }),
  redisDenyList({ client: createClient({ RESP: 2 }) }),
  redisDenyList({ client: createCluster({ rootNodes: [] }) }),
  redisDenyList({ client: createSentinel(sentinel) }),
]
for (const isRevoked of all) await Fastify().register(tenantAuth, { isRevoked })

const list = denyList()
expectType(list.add({ sub: 'a', issuedBefore: until })).is<Promise<void>>()
expectType(list.ready()).is<Promise<void>>()
expectType(list.size()).is<number>()

// Options of its own, and those of register; applications with any server.
const revoked = list
const clients = ['lunch-web']
await Fastify().register(backchannelLogout, { revoked, clients })
await Fastify().register(backchannelLogout, { revoked, clients, prefix: '/v1', logLevel: 'warn' })
await Fastify({ http2: true }).register(backchannelLogout, { revoked, clients, url: '/out' })
const options: door.BackchannelLogoutOptions = { revoked, clients, sessionless: 'subject' }
await Fastify().register(backchannelLogout, options)
await Fastify().register(backchannelLogout, {
  ...options,
  sessionless: ['https://a.test'] as const,
})
// @ts-expect-error logout tokens are for somebody
await Fastify().register(backchannelLogout, { revoked })
// @ts-expect-error any function is no deny list
await Fastify().register(backchannelLogout, { revoked: () => false, clients })
// @ts-expect-error an option that is not given is left out
await Fastify().register(backchannelLogout, { revoked, clients, url: undefined })
// @ts-expect-error there is no such way
await Fastify().register(backchannelLogout, { revoked, clients, sessionless: 'sid' })

export function onLogout(event: door.LogoutEvent): void {
  expectType(event.outcome).is<'accepted' | 'refused' | 'unavailable'>()
  // Prevents that a subscriber counts on a user that need not be there.
  expectType(event.sub).is<string | null>()
  expectType(event.sid).is<string | null>()
  expectType(event.issuer).is<string | null>()
  expectType(event.reason).is<string | null>()
  // @ts-expect-error what came is reported, not written
  event.outcome = 'accepted'
}

// @ts-expect-error a name that is missing by mistake must not widen an entry
void list.add({ sub: undefined, issuer: 'a' })
// @ts-expect-error so is one that is null, but for the issuer of tokens without one
void list.add({ sub: null, issuer: null })
// @ts-expect-error a time is a Date
void list.add({ sub: 'a', until: Date.now() })
// @ts-expect-error there is no such name
void list.add({ sub: 'a', tenant: 'b' })
// @ts-expect-error an entry names somebody by texts
denyList({ changes: () => ({ entries: [{ sub: 7 }], cursor: 1 }) })
// @ts-expect-error there is no address of a database
postgresDenyList({ url: 'postgres://localhost' })
// @ts-expect-error a pool of PostgreSQL is no client
redisDenyList({ client: pool })

const seen = proofTable({ max: 1000 })
expectType(seen('key', until)).is<boolean>()
expectType(seen.size).is<number>()
// @ts-expect-error it is counted, not set
seen.size = 0
// @ts-expect-error an end is a Date
proofTable()('key', Date.now())
// @ts-expect-error there is no such name
proofTable({ maxEntries: 1 })

const everywhere = [
  redisProofs({ client: new Redis(lazy), key: 'proofs' }),
  redisProofs({ client: new Redis({ ...lazy, protocol: 3, replyMapping: 'resp3' }) }),
  redisProofs({ client: new Cluster([], lazy) }),
  redisProofs({ client: new Valkey(lazy) }),
  redisProofs({ client: new ValkeyCluster([], lazy) }),
  redisProofs({ client: createClient() }),
  redisProofs({ client: createClient({ RESP: 2 }) }),
  redisProofs({ client: createCluster({ rootNodes: [] }) }),
  redisProofs({ client: createSentinel(sentinel) }),
]
for (const first of everywhere) expectType(first('key', until)).is<Promise<boolean>>()
// @ts-expect-error a pool of PostgreSQL is no client
redisProofs({ client: pool })
// @ts-expect-error neither is a Map
redisProofs({ client: new Map<string, string>() })
