import { createPublicKey } from 'node:crypto'
import jwt from '@fastify/jwt'
import Fastify, { type FastifyInstance } from 'fastify'
import { sharedSecret } from '../../lib/entrypoints/introspection/index.ts'
import tenantAuth from '../../lib/index.ts'
import type { Account } from './own-login.ts'

const issuer = 'https://lunch.example.com'
const audience = 'lunch'

type AccountOf = (body: unknown) => Promise<Account | null>

/** The first day: the login stays as it is. */
export async function appWithSecret(secret: string, accountOf: AccountOf) {
  const app = Fastify()

  await app.register(jwt, { secret, sign: { expiresIn: '15m' } })
  await app.register(tenantAuth, {
    issuer,
    audience,
    publicKeys: { keys: [] },
    opaqueToken: sharedSecret({ secrets: secret, issuer, audience }),
  })

  addRoutes(app, accountOf)
  return app
}

/**
 * The way to keys: the login signs with a private key, and tokens of the secret count until a date.
 *
 * @param privateKey a P-256 key as PEM
 */
export async function appOnTheWay(
  { secret, privateKey }: { secret: string; privateKey: string },
  accountOf: AccountOf,
) {
  const app = Fastify()

  const publicKey = createPublicKey(privateKey)
  const kid = '2026-11'
  const lastDay = Date.parse('2099-01-31')
  const ofTheSecret = sharedSecret({ secrets: secret, issuer, audience })

  await app.register(jwt, {
    secret: { private: privateKey, public: publicKey.export({ format: 'pem', type: 'spki' }) },
    sign: { iss: issuer, aud: audience, kid, algorithm: 'ES256', expiresIn: '15m' },
  })
  await app.register(tenantAuth, {
    issuer,
    audience,
    publicKeys: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid }] },
    opaqueToken: (token) => (Date.now() < lastDay ? ofTheSecret(token) : null),
  })

  addRoutes(app, accountOf)
  return app
}

function addRoutes(app: FastifyInstance, accountOf: AccountOf): void {
  app.post('/login', { config: { noauth: true } }, async ({ body }, reply) => {
    const account = await accountOf(body)
    if (account === null) return reply.code(401).send()
    return app.jwt.sign({ sub: account.id, resources: account.resources })
  })

  app.get(
    '/:tenant/menu',
    { config: { tenant: 'required', require: 'menu:read' } },
    async ({ tenant }) => `the menu of ${tenant}`,
  )
}
