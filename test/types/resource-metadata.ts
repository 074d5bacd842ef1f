import Fastify, { type FastifyBaseLogger } from 'fastify'
import { type ResourceMetadataOptions, resourceMetadata } from 'fastify-tenant-auth'
import { app } from './application.ts'

// Options of its own, and those of register.
await app.register(resourceMetadata)
await app.register(resourceMetadata, {})
await app.register(resourceMetadata, { scopes: ['menu:read'] })
await app.register(resourceMetadata, { scopes: ['menu:read'] as const, logLevel: 'warn' })
const options: ResourceMetadataOptions = { scopes: ['menu:read'] }
await app.register(resourceMetadata, options)
await app.register(resourceMetadata, { publishIssuers: false })
await app.register(resourceMetadata, { issuersOf: (tenant) => [`https://${tenant}.test`] })
await app.register(resourceMetadata, { issuersOf: async () => ['https://a.test'] as const })

// Applications with any server or logger.
await Fastify({ http2: true, https: {} }).register(resourceMetadata, { scopes: ['a:b'] })
await Fastify({ http2: true }).register(resourceMetadata)
declare const loggerInstance: FastifyBaseLogger & { audit(message: string): void }
await Fastify({ loggerInstance }).register(resourceMetadata)

// @ts-expect-error a misspelt option
await app.register(resourceMetadata, { scope: ['menu:read'] })
// @ts-expect-error issuersOf returns a list
await app.register(resourceMetadata, { issuersOf: () => 'https://a.test' })
// @ts-expect-error publishIssuers is a boolean
await app.register(resourceMetadata, { publishIssuers: 'no' })
// @ts-expect-error scopes are a list
await app.register(resourceMetadata, { scopes: 'menu:read' })
// @ts-expect-error an option that is not given is left out
await app.register(resourceMetadata, { scopes: undefined })
