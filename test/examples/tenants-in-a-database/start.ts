import { fileURLToPath } from 'node:url'
import { createApp } from './app.ts'
import { addTenant } from './as-tenant.ts'
import { createSchema, openDatabase } from './database.ts'

/**
 * In dev mode, as the user of dev-userinfo.json, so that no authorization server is needed. The
 * memberships in the database count outside dev mode.
 */
const database = await openDatabase(process.env['DATABASE_URL'])
await createSchema(database)
for (const tenant of ['lazy-raccoon', 'busy-beaver']) await addTenant(database, tenant)

const app = await createApp(database, {
  devMode: true,
  devUserInfoPath: fileURLToPath(new URL('dev-userinfo.json', import.meta.url)),
})
app.addHook('onClose', () => database.close())
process.once('SIGTERM', () => void app.close())
process.once('SIGINT', () => void app.close())

const address = await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT'] ?? 3000) })
console.log(`listening on ${address}, for example:
  curl ${address}/lazy-raccoon/dishes
  curl ${address}/lazy-raccoon/dishes --json '{"name":"soup"}'
  curl ${address}/busy-beaver/dishes      # does not see the soup
  curl ${address}/gone-gecko/dishes       # 404: in no table`)
