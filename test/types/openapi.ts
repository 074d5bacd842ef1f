import fastifySwagger from '@fastify/swagger'
import { app } from './application.ts'
import { expectType } from './expect-type.ts'

// For @fastify/swagger's types a document is of OpenAPI or of Swagger 2, and TypeScript wants to
// know which.
await app.register(fastifySwagger, {
  openapi: { openapi: '3.1.0' },
  transformObject: (document) =>
    'openapiObject' in document
      ? app.authService.openapi(document.openapiObject)
      : document.swaggerObject,
})

const document = { openapi: '3.1.0', 'x-owner': 'kitchen' }
// Prevents that an application's own document loses a part of its type.
expectType(app.authService.openapi(document)).is<{ openapi: string; 'x-owner': string }>()
// @ts-expect-error a document's text is not a document
app.authService.openapi('openapi: 3.1.0')
