import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { FastifyInstance, FastifyServerOptions, LightMyRequestResponse } from 'fastify'
import {
  type BackchannelLogoutOptions,
  backchannelLogout,
  type DenyList,
  denyList,
} from '../../../lib/entrypoints/revocation/index.ts'
import tenantAuth, { type AuthOptions } from '../../../lib/index.ts'
import { type ForgeKey, forge } from '../tokens/forge.ts'
import { AUDIENCE, goodToken, ISSUER, KEY } from '../tokens/probe.ts'
import { bareApp } from './guarded-app.ts'

/** The client whose users are logged out. */
export const CLIENT = 'lunch-web'
export const URL_OF_LOGOUT = '/backchannel-logout'

/** OpenID Connect Back-Channel Logout §2.4. */
export const LOGOUT = { 'http://schemas.openid.net/event/backchannel-logout': {} }

/** Claims of a logout token of alice's session s1, with any others over them. */
export function logoutClaims(over: object = {}): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000)
  const names = { iss: ISSUER, aud: CLIENT, sub: 'alice', sid: 's1', jti: 'j1' }
  return { ...names, iat: now, exp: now + 120, events: LOGOUT, ...over }
}

/** A logout token. A claim that is undefined is left out. */
export function logoutToken(over: object = {}, header: object = {}, key: ForgeKey = KEY): string {
  return forge(key, { header: { typ: 'logout+jwt', ...header }, payload: logoutClaims(over) })
}

export interface LogoutApp {
  readonly app: FastifyInstance
  readonly revoked: DenyList
  /** The answer to a form with this token. */
  logOut(token: string, url?: string): Promise<LightMyRequestResponse>
  /** The answer to a form, or to another body. */
  post(body: string | Buffer, headers?: Headers): Promise<LightMyRequestResponse>
  /** The status of the answer to an access token of alice and s1, with other claims over them. */
  status(over?: object): Promise<number>
}

type Headers = Readonly<Record<string, string>>

export interface LogoutAppOptions extends FastifyServerOptions {
  readonly auth?: AuthOptions
  readonly revoked?: DenyList
  readonly plugin?: Partial<BackchannelLogoutOptions>
  /** Runs before the plugin is registered. */
  before?(app: FastifyInstance): void
}

/** The whole answer to a bad logout token. It is always the same. */
export function assertNoLogout(response: LightMyRequestResponse, what: string): void {
  assert.deepEqual([response.statusCode, response.body], [400, '{"error":"invalid_request"}'], what)
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(response.headers['cache-control'], 'no-store')
}

/** An application whose users an authorization server logs out. */
export async function logoutApp(
  t: TestContext,
  { auth, revoked = denyList(), plugin, before, ...server }: LogoutAppOptions = {},
): Promise<LogoutApp> {
  const app = bareApp(t, server)
  const trusted = { issuer: ISSUER, publicKeys: { keys: [KEY.publicJwk] } }
  const hasOwn = auth?.issuers !== undefined || auth?.devMode
  const keys = auth?.publicKeysUrl === undefined ? trusted : { issuer: ISSUER }
  await app.register(tenantAuth, {
    ...(!hasOwn && keys),
    ...(!auth?.devMode && { audience: AUDIENCE }),
    isRevoked: revoked,
    ...auth,
  })
  before?.(app)
  await app.register(backchannelLogout, { revoked, clients: [CLIENT], ...plugin })
  app.get('/me', async () => 'let in')
  const post: LogoutApp['post'] = (payload, headers = FORM) =>
    app.inject({ method: 'POST', url: URL_OF_LOGOUT, headers, payload })
  return {
    app,
    revoked,
    post,
    logOut: (token, url = URL_OF_LOGOUT) =>
      app.inject({ method: 'POST', url, headers: FORM, payload: formOf(token) }),
    status: async (over = {}) => {
      const token = goodToken({ sid: 's1', ...over })
      const headers = { authorization: `Bearer ${token}` }
      return (await app.inject({ url: '/me', headers })).statusCode
    },
  }
}

export const FORM: Headers = { 'content-type': 'application/x-www-form-urlencoded' }

export function formOf(token: string): string {
  return `logout_token=${encodeURIComponent(token)}`
}
