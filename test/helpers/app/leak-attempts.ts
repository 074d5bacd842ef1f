import type { FastifyInstance } from 'fastify'
import type { TestTokenOptions, TestUserInfo } from '../../../lib/entrypoints/testing/index.ts'
import type { AuthOptions } from '../../../lib/index.ts'

export interface Attempt {
  readonly what: string
  /** The result of the attempt. */
  readonly outcome: string
  readonly url?: string
  readonly options?: AuthOptions
  readonly claims?: TestUserInfo
  readonly token?: TestTokenOptions
  /** The header for a token. */
  readonly header?: (token: string) => string
}

export const INVALID = '401 ERR_AUTH_TOKEN_INVALID'
const kid = 'a-key-that-nobody-has'

/** Every kind of refusal that a request alone can cause, and a request without a refusal. */
export const ATTEMPTS: readonly Attempt[] = [
  { what: 'a good token', outcome: '200' },
  { what: 'another scheme', outcome: '401 ERR_AUTH_TOKEN_MISSING', header: (it) => `Basic ${it}` },
  { what: 'no scheme', outcome: '401 ERR_AUTH_TOKEN_MISSING', header: (it) => it },
  { what: 'a tab', outcome: INVALID, header: (it) => `Bearer\t${it}` },
  { what: 'two tokens', outcome: INVALID, header: (it) => `Bearer ${it} ${it}` },
  { what: 'a list of tokens', outcome: INVALID, header: (it) => `Bearer ${it}, Bearer ${it}` },
  {
    what: 'a bent signature',
    outcome: INVALID,
    header: (it) => `Bearer ${it.slice(0, -8)}AAAAAAAA`,
  },
  {
    what: 'no signature',
    outcome: INVALID,
    header: (it) => `Bearer ${it.split('.', 2).join('.')}.`,
  },
  {
    what: 'no third part',
    outcome: INVALID,
    header: (it) => `Bearer ${it.split('.', 2).join('.')}`,
  },
  { what: 'a bent payload', outcome: INVALID, header: (it) => `Bearer ${it.replace('.', '.e')}` },
  { what: 'a bent header', outcome: INVALID, header: (it) => `Bearer x${it}` },
  { what: 'an expired token', outcome: INVALID, token: { expiresIn: -60 } },
  { what: 'no exp', outcome: INVALID, token: { expiresIn: undefined } },
  { what: 'a token of tomorrow', outcome: INVALID, token: { notBefore: 9999 } },
  { what: 'another issuer', outcome: INVALID, token: { issuer: 'https://other.test' } },
  { what: 'another audience', outcome: INVALID, token: { audience: 'other' } },
  { what: 'an unknown key', outcome: INVALID, token: { header: { kid } } },
  { what: 'another type', outcome: INVALID, token: { header: { typ: 'secevent+jwt' } } },
  { what: 'a token too long', outcome: INVALID, options: { maxTokenLength: 99 } },
  { what: 'no subject', outcome: INVALID, claims: { sub: '' } },
  {
    what: 'malformed claims',
    outcome: INVALID,
    claims: JSON.parse('{"resources":{"held":"x:y"}}'),
  },
  { what: 'a revoked user', outcome: INVALID, options: { isRevoked: () => true } },
  { what: 'no tenant', outcome: '400 ERR_AUTH_TENANT_MISSING', url: '/query' },
  { what: 'a bad tenant', outcome: '400 ERR_AUTH_TENANT_INVALID', url: '/query?tenant=*' },
  { what: 'a foreign tenant', outcome: '403 ERR_AUTH_TENANT_FORBIDDEN', url: '/foreign/x' },
  {
    what: 'an unknown tenant',
    outcome: '404 ERR_AUTH_TENANT_UNKNOWN',
    options: { tenants: ['x'] },
  },
  { what: 'a missing resource', outcome: '403 ERR_AUTH_RESOURCE_MISSING', url: '/held/needy' },
  { what: 'an authorization asked', outcome: '403 ERR_AUTH_RESOURCE_MISSING', url: '/held/asking' },
  { what: 'an unknown route', outcome: '404', url: '/nowhere/at/all' },
]

/** The routes of the attempts. */
export function writeRoutes(app: FastifyInstance): void {
  app.get('/:tenant/x', async () => 'x')
  app.get('/query', { config: { tenant: true } }, async () => 'x')
  app.get('/:tenant/needy', { config: { require: 'order:erase' } }, async () => 'x')
  const config = { authorization: true } as const
  app.get('/:tenant/asking', { config }, async (request) => {
    request.log.info({ authorized: request.authorization.tenant }, 'asking')
    request.authorization.require('order:erase')
  })
}
