import type { TestContext } from 'node:test'
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { loadSettings } from '../../../lib/config/load-settings.ts'
import tenantAuth, { type AuthOptions } from '../../../lib/index.ts'
import type { Side } from '../app/beside.ts'
import { bareApp, trusting } from '../app/guarded-app.ts'

/** The rules of a guard without options. */
export const DEFAULT_RULES = {
  ...loadSettings({}).settings,
  senderProofs: { dpop: false, certificate: false },
}

/** An Operation Object, with the parts that the tests read. */
export interface Operation {
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly Parameter[]
  readonly responses: Readonly<Record<string, Answer>>
  readonly [key: string]: unknown
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly [key: string]: unknown
}

export interface Answer {
  readonly description: string
  readonly content?: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>>
}

/** A document, with the parts that the tests read. */
export interface OpenapiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export interface DocumentedOptions {
  readonly side?: Side
  readonly auth?: AuthOptions
  readonly swagger?: FastifyDynamicSwaggerOptions
}

/**
 * An application that documents itself, with @fastify/swagger on one side of the guard. It is closed
 * with its test.
 */
export async function documentedApp(
  t: TestContext,
  routes: (app: FastifyInstance) => unknown,
  { side = 'before', auth = {}, swagger: own = {} }: DocumentedOptions = {},
): Promise<FastifyInstance> {
  const app = bareApp(t)
  const document = () =>
    app.register(swagger, {
      openapi: { openapi: '3.1.0', info: { title: 'test', version: '1' } },
      transformObject: (given) =>
        'openapiObject' in given
          ? app.authService.openapi(given.openapiObject)
          : given.swaggerObject,
      ...own,
    })
  if (side === 'before') await document()
  await app.register(tenantAuth, trusting(auth))
  if (side === 'after') await document()
  await routes(app)
  await app.ready()
  return app
}

/** The document as a client gets it. */
export function documentOf(app: FastifyInstance): OpenapiDocument {
  return JSON.parse(JSON.stringify(app.swagger()))
}

/** The one operation of an application with one route. */
export async function documentedRoute(
  t: TestContext,
  route: (app: FastifyInstance) => unknown,
  options: DocumentedOptions = {},
): Promise<Operation> {
  const { paths } = documentOf(await documentedApp(t, route, options))
  const [operation] = Object.values(paths).flatMap((item) => Object.values(item))
  if (operation === undefined) throw new Error('expected one operation, found none')
  return operation
}
