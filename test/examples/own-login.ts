import { createPublicKey } from 'node:crypto'
import jwt from '@fastify/jwt'
import Fastify from 'fastify'
import tenantAuth, { type Resources } from '../../lib/index.ts'

export interface Account {
  readonly id: string
  readonly resources: Resources
}

/**
 * @param privateKey a P-256 key as PEM
 * @param accountOf the account of what somebody has typed, or null
 */
export async function appWithLogin(
  privateKey: string,
  accountOf: (body: unknown) => Promise<Account | null>,
) {
  const app = Fastify()

  const publicKey = createPublicKey(privateKey)
  const common = { iss: 'https://lunch.example.com', aud: 'lunch', kid: '2026-11' }

  await app.register(jwt, {
    secret: { private: privateKey, public: publicKey.export({ format: 'pem', type: 'spki' }) },
    sign: { ...common, algorithm: 'ES256', expiresIn: '15m' },
  })
  await app.register(tenantAuth, {
    issuer: common.iss,
    audience: common.aud,
    publicKeys: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: common.kid }] },
  })

  app.post('/login', { config: { noauth: true } }, async ({ body }, reply) => {
    const account = await accountOf(body)
    if (account === null) return reply.code(401).send()
    return app.jwt.sign({ sub: account.id, resources: account.resources })
  })

  app.get(
    '/:tenant/menu',
    { config: { tenant: 'required', userInfo: true, require: 'menu:read' } },
    async ({ tenant, userInfo }) => `the menu of ${tenant} for ${userInfo.sub}`,
  )

  return app
}
