import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import Fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import type { AuthOptions } from '../../../lib/config/options.ts'
import { AuthService } from '../../../lib/index.ts'
import { untyped } from '../app/guarded-app.ts'
import { assertRefused, outcome } from '../app/refusals.ts'
import { type ForgeKey, forge, forgeKey } from './forge.ts'

export const ISSUER = 'https://authority.test'
export const AUDIENCE = 'api'

/** A small application behind the real guard. It can be asked with any token. */
export interface Probe {
  readonly app: FastifyInstance
  readonly service: AuthService
  /** The last lines that the application has logged. */
  readonly log: string[]
  /** How many handlers have run. */
  readonly handled: { count: number }
  /** Asks `GET /me`, or another route, with a bearer token. */
  ask(token: string, url?: string): Promise<LightMyRequestResponse>
}

/** Most lines that are kept: a probe may be asked a million times. */
const MOST_LINES = 1000

/** The keys of every test that needs one key of a kind. Generating RSA keys takes time. */
export const KEY: ForgeKey = forgeKey('ES256', 'probe')

/** `undefined` removes an option that a probe has otherwise. */
type ProbeOptions = { readonly [name in keyof AuthOptions]: AuthOptions[name] | undefined }

/**
 * Starts a probe that trusts `KEY`, unless the options say otherwise. It is closed with its test.
 */
export async function startProbe(t: TestContext, options: ProbeOptions = {}): Promise<Probe> {
  const probe = await openProbe(options)
  t.after(() => probe.app.close())
  return probe
}

export function openProbe(options: ProbeOptions = {}): Promise<Probe> {
  return open(options, (app, handled) => {
    addFewRoutes(app, handled)
    addFurtherRoutes(app, handled)
  })
}

/** A probe with two routes, for tests that open thousands of them: each route costs time. */
export function openSmallProbe(options: ProbeOptions = {}): Promise<Probe> {
  return open(options, addFewRoutes)
}

async function open(options: ProbeOptions, addRoutes: typeof addFewRoutes): Promise<Probe> {
  const log: string[] = []
  const handled = { count: 0 }
  const app = Fastify({
    logger: {
      level: 'trace',
      stream: {
        write(line: string) {
          if (log.push(line) > MOST_LINES) log.shift()
        },
      },
    },
    routerOptions: { maxParamLength: 300 },
    exposeHeadRoutes: false,
  })
  const all = {
    ...(options.publicKeysUrl === undefined && { publicKeys: { keys: [KEY.publicJwk] } }),
    issuer: ISSUER,
    audience: AUDIENCE,
    ...options,
  }
  const given = Object.entries(all).filter(([, value]) => value !== undefined)
  const service = new AuthService(untyped(Object.fromEntries(given)))
  await service.install(app)
  addRoutes(app, handled)
  await app.ready()
  const ask: Probe['ask'] = (token, url = '/me') =>
    app.inject({ url, headers: { authorization: `Bearer ${token}` } })
  return { app, service, log, handled, ask }
}

function addFewRoutes(app: FastifyInstance, handled: Probe['handled']): void {
  app.get('/me', { config: { userInfo: true } }, async (request) => {
    handled.count += 1
    return request.userInfo
  })
  app.get('/t/:tenant', { config: { tenant: true, resources: true } }, async (request) => {
    handled.count += 1
    return { tenant: request.tenant, resources: request.resources }
  })
}

function addFurtherRoutes(app: FastifyInstance, handled: Probe['handled']): void {
  app.get('/query', { config: { tenant: true } }, async (request) => {
    handled.count += 1
    return { tenant: request.tenant }
  })
  app.get('/optional', { config: { tenant: 'optional' } }, async (request) => {
    handled.count += 1
    return { tenant: request.tenant }
  })
  app.get('/needs', { config: { require: 'menu:read' } }, async () => {
    handled.count += 1
    return 'held'
  })
}

/** Claims that the probe accepts, with any others over them. */
export function goodClaims(over: object = {}): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000)
  const resources = { acme: ['menu:read'], '*': ['note:read'] }
  return { iss: ISSUER, aud: AUDIENCE, sub: 'alice', iat: now, exp: now + 300, resources, ...over }
}

/** A token that the probe accepts. */
export function goodToken(over: object = {}, header: object = {}, key = KEY): string {
  return forge(key, { header, payload: goodClaims(over) })
}

/** The whole answer to a token that cannot be accepted. It is always the same. */
export function assertTokenRefused(response: LightMyRequestResponse, what: string): void {
  assert.equal(outcome(response), '401 ERR_AUTH_TOKEN_INVALID', what)
  assertRefused(response, 'ERR_AUTH_TOKEN_INVALID')
}
