import Fastify from 'fastify'
import { Redis } from 'ioredis'
import pg from 'pg'
import {
  backchannelLogout,
  type DenyEntry,
  type DenyList,
  type DenyListRules,
  postgresDenyList,
  redisDenyList,
} from '../../../../lib/entrypoints/revocation/index.ts'
import { tenantAuth } from '../../../../lib/index.ts'

/**
 * An application whose tokens are revoked by a deny list, until its parent ends. `POST /revoked`
 * adds the entry that is its body. Argument: JSON of the store, its address, the rules of the list,
 * the options of the plugin, and perhaps the clients whose users an authorization server logs out,
 * and the port.
 */
const { store, url, rules, options, clients, port = 0 } = JSON.parse(process.argv[2] ?? '{}')

const STORES: Readonly<Record<string, () => DenyList>> = {
  postgresql: () => {
    const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 2000 })
    // An idle connection that is lost would end the process.
    pool.on('error', () => {})
    return postgresDenyList({ pool, createTable: true, ...rulesOf(rules) })
  },
  redis: () => {
    // A connection is given up whose commands have no answer.
    const client = new Redis(url, { socketTimeout: 5000 })
    client.on('error', () => {})
    return redisDenyList({ client, ...rulesOf(rules) })
  },
}

function rulesOf(given: Partial<DenyListRules>): Partial<DenyListRules> {
  return given
}

const open = STORES[store]
if (open === undefined) throw new Error(`no store named ${store}`)
const isRevoked = open()
const app = Fastify()
await app.register(tenantAuth, { ...options, isRevoked })
if (clients !== undefined) await app.register(backchannelLogout, { revoked: isRevoked, clients })
app.get('/', async () => 'admitted')
app.post<{ Body: DenyEntry }>('/revoked', { config: { noauth: true } }, async ({ body }) => {
  await isRevoked.add(body)
  return 'added'
})
process.once('disconnect', () => process.exit(0))
process.send?.({ address: await app.listen({ port, host: '127.0.0.1' }) })
