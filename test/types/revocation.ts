import Fastify from 'fastify'
import { tenantAuth } from 'fastify-tenant-auth'
import * as door from 'fastify-tenant-auth/revocation'
import pg from 'pg'
import { expectType, expectTypes } from './expect-type.ts'

const { denyList, postgresDenyList } = door

// Prevents a function that is taken away unnoticed.
expectTypes<keyof typeof door, 'denyList' | 'postgresDenyList'>()

const until = new Date()
const pool = new pg.Pool()

// Prevents a list that does not fit where tokens are asked of.
const all: door.DenyList[] = [
  denyList(),
  denyList({ interval: 1, maxStale: 9, whenStale: 'admit', maxEntries: 1, maxLifetime: 1 }),
  denyList({
    changes: (cursor: string | null) => ({ entries: [{ sub: 'a', until }], cursor: `${cursor}` }),
    append: async (entry) => JSON.stringify(entry.until.toISOString()),
  }),
  postgresDenyList({ pool }),
  postgresDenyList({ pool, table: 'revoked', createTable: true, interval: 1 }),
]
for (const isRevoked of all) await Fastify().register(tenantAuth, { isRevoked })

const list = denyList()
expectType(list.add({ sub: 'a', issuedBefore: until })).is<Promise<void>>()
expectType(list.ready()).is<Promise<void>>()
expectType(list.size()).is<number>()

// @ts-expect-error a name that is missing by mistake must not widen an entry
list.add({ sub: undefined, issuer: 'a' })
// @ts-expect-error a time is a Date
list.add({ sub: 'a', until: Date.now() })
// @ts-expect-error there is no such name
list.add({ sub: 'a', tenant: 'b' })
// @ts-expect-error an entry ends
denyList({ changes: () => ({ entries: [{ sub: 'a' }], cursor: 1 }) })
// @ts-expect-error there is no address of a database
postgresDenyList({ url: 'postgres://localhost' })
