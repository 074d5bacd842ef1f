import { createPublicKey, verify } from 'node:crypto'
import jwt from '@fastify/jwt'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fastifyJwtJwks } from 'fastify-jwt-jwks'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import type { AuthOptions } from '../../lib/index.ts'
import { addFloor, guardedConfig } from './menu-route.ts'

/** What every guard gets: the same keys, and whether it may keep what it has verified. */
export interface BenchSetup {
  /** Which build of this plugin, as the address of its module. */
  readonly plugin: string
  readonly algorithm: string
  readonly publicKeys: JSONWebKeySet
  readonly publicKeysUrl: string
  readonly publicKeyPem: string
  readonly issuer: string
  readonly audience: string
  /** Entries that a cache must be able to hold; 0: caches off. */
  readonly cacheSize: number
  /** For tokens that are bound to a key. */
  readonly bound?: { readonly publicUrl: string; readonly proofKeyPem: string }
  readonly asyncContext?: boolean
}

type Guard = (app: FastifyInstance, setup: BenchSetup) => Promise<void>

export const GUARDS = [
  'none',
  'floor',
  'verify',
  'claims',
  'proof',
  'refuse',
  'this plugin',
  '@fastify/jwt',
  'fastify-jwt-jwks',
  'jose',
] as const

export type GuardName = (typeof GUARDS)[number]

/** The same small route under each guard. */
export const guards: Readonly<Record<GuardName, Guard>> = {
  async none(app) {
    app.get('/:tenant/menu', async () => ({ ok: true }))
  },

  async floor(app) {
    addFloor(app)
    app.get('/:tenant/menu', async () => ({ ok: true }))
  },

  // The least work that a guard without a cache does.
  async verify(app, setup) {
    const isSigned = signatureCheck(setup)
    app.addHook('onRequest', (request, reply, done) => {
      if (isSigned(tokenOf(request))) done()
      else reply.code(401).send()
    })
    app.get('/:tenant/menu', async () => ({ ok: true }))
  },

  // The same, and the claims are read.
  async claims(app, setup) {
    const isSigned = signatureCheck(setup)
    app.addHook('onRequest', (request, reply, done) => {
      const token = tokenOf(request)
      const [, payload = ''] = token.split('.', 2)
      const { sub } = JSON.parse(Buffer.from(payload, 'base64url').toString())
      if (isSigned(token) && typeof sub === 'string') done()
      else reply.code(401).send()
    })
    app.get('/:tenant/menu', async () => ({ ok: true }))
  },

  // The bare verification of a DPoP proof.
  async proof(app, setup) {
    const publicKeyPem = setup.bound?.proofKeyPem ?? ''
    const isSigned = signatureCheck({ ...setup, publicKeyPem })
    app.addHook('onRequest', (request, reply, done) => {
      if (isSigned(String(request.headers['dpop']))) done()
      else reply.code(401).send()
    })
    app.get('/:tenant/menu', async () => ({ ok: true }))
  },

  // The least work of a refusal with a challenge.
  async refuse(app) {
    app.addHook('onRequest', (_request, _reply, done) => {
      const { stackTraceLimit } = Error
      Error.stackTraceLimit = 0
      const refusal = Object.assign(new Error('A token is needed.'), { statusCode: 401 })
      Error.stackTraceLimit = stackTraceLimit
      done(refusal)
    })
    app.addHook('onError', (_request, reply, _error, done) => {
      reply.header('www-authenticate', 'Bearer realm="api"')
      done()
    })
    app.get('/:tenant/menu', async () => ({ ok: true }))
  },

  // Its handler reads all that it declares: what nobody reads may never be made.
  async 'this plugin'(app, { plugin, issuer, audience, publicKeys, ...setup }) {
    const { default: tenantAuth }: typeof import('../../lib/index.ts') = await import(plugin)
    const { cacheSize: tokenCacheSize, asyncContext = false, bound } = setup
    const options: AuthOptions = { publicKeys, issuer, audience, tokenCacheSize, asyncContext }
    await app.register(tenantAuth, {
      ...options,
      ...(bound && (await boundOptions(plugin, bound))),
    })
    app.get(
      '/:tenant/menu',
      { config: guardedConfig },
      async ({ tenant, userInfo, resources }) => ({
        ok: resources.has('menu:read') && userInfo.sub !== tenant,
      }),
    )
  },

  async '@fastify/jwt'(app, { publicKeyPem, algorithm, issuer, audience, cacheSize }) {
    if (!isAlgorithm(algorithm)) throw new Error(`unexpected ${algorithm}`)
    await app.register(jwt, {
      secret: { public: publicKeyPem },
      verify: {
        algorithms: [algorithm],
        allowedIss: issuer,
        allowedAud: audience,
        cache: cacheSize === 0 ? false : cacheSize,
      },
    })
    app.addHook('onRequest', (request) => request.jwtVerify())
    app.get('/:tenant/menu', async () => ({ ok: true }))
  },

  // This guard has no ES256, and no token cache of its own.
  async 'fastify-jwt-jwks'(app, { publicKeysUrl, issuer, audience }) {
    await app.register(fastifyJwtJwks, { jwksUrl: publicKeysUrl, issuer, audience })
    app.addHook('onRequest', (request) => app.authenticate(request))
    app.get('/:tenant/menu', async () => ({ ok: true }))
  },

  async jose(app, { publicKeys, issuer, audience }) {
    const keys = createLocalJWKSet(publicKeys)
    app.addHook('onRequest', async (request: FastifyRequest) => {
      await jwtVerify(tokenOf(request), keys, { issuer, audience })
    })
    app.get('/:tenant/menu', async () => ({ ok: true }))
  },
}

/** The proofs of a load come again and again. To the table each is a new one. */
async function boundOptions(
  plugin: string,
  { publicUrl }: { readonly publicUrl: string },
): Promise<AuthOptions> {
  const { proofTable }: typeof import('../../lib/entrypoints/revocation/index.ts') = await import(
    new URL('entrypoints/revocation/index.js', plugin).href
  )
  const table = proofTable({ max: 5_000_000 })
  let serial = 0
  const proofSeen = (key: string, until: Date) => table(`${key.slice(0, 44)}${serial++}`, until)
  return { confirmation: 'check', publicUrl, proofMaxAge: 600, proofSeen }
}

function tokenOf({ headers }: FastifyRequest): string {
  return headers.authorization?.slice('Bearer '.length) ?? ''
}

function signatureCheck({ publicKeyPem, algorithm }: BenchSetup): (token: string) => boolean {
  const key = { key: createPublicKey(publicKeyPem), dsaEncoding: 'ieee-p1363' } as const
  const hash = algorithm === 'EdDSA' ? null : 'sha256'
  return (token) => {
    const end = token.lastIndexOf('.')
    const signature = Buffer.from(token.slice(end + 1), 'base64url')
    return verify(hash, Buffer.from(token.slice(0, end)), key, signature)
  }
}

function isAlgorithm(name: string): name is 'RS256' | 'ES256' | 'EdDSA' {
  return name === 'RS256' || name === 'ES256' || name === 'EdDSA'
}
