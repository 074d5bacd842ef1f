import Fastify from 'fastify'
import tenantAuth from 'fastify-tenant-auth'

/** The application that these tests write routes for. It is never run. */
export const app = Fastify()
await app.register(tenantAuth, { configFile: 'app.ini' })

/** A setting whose value the types do not know. */
export declare const isMultitenant: boolean
