import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { FastifyInstance, FastifyServerOptions, LightMyRequestResponse } from 'fastify'
import { boundToken, PUBLIC } from '../tokens/bound.ts'
import { guardedApp, untyped } from './guarded-app.ts'
import { rawRequest } from './raw-request.ts'
import { outcome } from './refusals.ts'

/**
 * An application that checks what tokens are bound to, with routes of every kind of answer. An
 * option that is `undefined` is not given.
 */
export async function boundApp(
  t: TestContext,
  options: object = {},
  server: FastifyServerOptions = {},
): Promise<FastifyInstance> {
  const all = { confirmation: 'check', publicUrl: PUBLIC, ...options }
  const given = Object.entries(all).filter(([, value]) => value !== undefined)
  const app = await guardedApp(t, untyped(Object.fromEntries(given)), server)
  app.get('/me', { config: { userInfo: true } }, async ({ userInfo }) => userInfo.sub)
  app.post('/me', async () => 'ok')
  app.get('/t/:tenant', { config: { tenant: true } }, async ({ tenant }) => tenant)
  app.get('/needs/:tenant', { config: { require: 'order:erase' } }, async () => 'ok')
  app.get('/query', { config: { tenant: true } }, async ({ tenant }) => tenant)
  app.get('/guests', { config: { guests: true, tenant: false } }, async ({ headers }) =>
    'authorization' in headers ? 'known' : 'guest',
  )
  app.get('/open', { config: { noauth: true } }, async () => 'open')
  return app
}

/** What the challenges of an answer say. */
export interface Challenges {
  readonly schemes: string[]
  readonly errors: Record<string, string>
  readonly lines: string[]
}

export function challengesOf({ headers }: Pick<LightMyRequestResponse, 'headers'>): Challenges {
  const value = headers['www-authenticate']
  const lines = value === undefined ? [] : [value].flat().map(String)
  const named = lines.map((line) => ({
    scheme: line.split(' ', 1).join(),
    error: /[ ,]error="([^"]*)"/.exec(line)?.[1],
  }))
  return {
    lines,
    schemes: named.map(({ scheme }) => scheme),
    errors: Object.fromEntries(
      named.flatMap(({ scheme, error }) => (error === undefined ? [] : [[scheme, error]])),
    ),
  }
}

export type ProofError = 'invalid_dpop_proof' | 'invalid_token'

/** A refusal of a token or its proof, with the error in the challenge of one scheme only. */
export function assertUnproved(
  response: LightMyRequestResponse,
  error: ProofError,
  scheme: 'DPoP' | 'Bearer' = 'DPoP',
  what = '',
): void {
  assert.equal(outcome(response), '401 ERR_AUTH_TOKEN_INVALID', what)
  assert.equal(response.headers['cache-control'], 'no-store', what)
  assert.equal(response.headers['retry-after'], undefined, what)
  assert.deepEqual(challengesOf(response).errors, { [scheme]: error }, what)
}

/** An address with a path of its own, under which an application may be known. */
export const PREFIX = 'https://api.test/svc2'

/** An application at another path of its host, which answers to every path with what it was. */
export async function addressedApp(t: TestContext, server: FastifyServerOptions = {}) {
  const app = await boundApp(t, { publicUrl: PREFIX }, server)
  const config = { userInfo: true } as const
  app.get('/x/*', { config }, async ({ params }) => Object(params)['*'])
  app.get('/*', { config }, async ({ params }) => `/${Object(params)['*']}`)
  return { app, token: await boundToken() }
}

/** A request with a target as it is, and the whole answer. */
export async function sendTarget(
  app: FastifyInstance,
  target: string,
  token: string,
  proof: string,
  ...more: string[]
): Promise<string> {
  const lines = [`Authorization: DPoP ${token}`, `DPoP: ${proof}`, 'Connection: close']
  const hosts = more.some((line) => line.startsWith('Host:')) ? [] : ['Host: api.test']
  return rawRequest(app, `GET ${target} HTTP/1.1`, ...hosts, ...lines, ...more)
}
