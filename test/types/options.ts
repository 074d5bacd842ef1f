import Fastify, { type FastifyRequest } from 'fastify'
import tenantAuth, {
  type AuthOptions,
  AuthService,
  type tenantAuth as named,
  type TokenInfo,
  type UserInfo,
} from 'fastify-tenant-auth'
import { expectType, expectTypes } from './expect-type.ts'

const app = Fastify()

// Prevents that the two names of the plugin differ.
expectTypes<typeof named, typeof tenantAuth>()

// Every way in takes the same options.
await app.register(tenantAuth)
await app.register(tenantAuth, {})
await app.register(tenantAuth, { configFile: 'app.ini', prefix: '/api' })
await app.register(tenantAuth, () => ({ configFile: 'app.ini' }))
new AuthService()
new AuthService({})

// Every option, with a value of each kind that it takes.
const everything: Required<AuthOptions> = {
  configFile: 'app.ini',
  publicKeysUrl: 'https://auth.example/openidconnect/public_keys',
  publicKeys: { keys: [{ kty: 'EC' }] },
  multitenancy: true,
  devMode: false,
  devUserInfoPath: 'dev-userinfo.json',
  issuer: 'https://auth.example',
  audience: ['orders', 'menus'],
  algorithms: ['ES256', 'EdDSA'],
  tokenTypes: ['at+jwt'],
  confirmation: 'ignore',
  clockTolerance: 0.5,
  maxTokenLength: 8192,
  realm: 'orders',
  tenantParameter: 'org',
  superuserResource: 'authz:superuser',
  tenants: ['lazy-raccoon'],
  tenantsTimeout: 5,
  tenantsMaxAge: 60,
  keysTimeout: 5,
  keysMaxAge: 600,
  keysMaxStale: 3600,
  keysCooldown: 30,
  keysRetry: 1,
  tokenCacheSize: 0,
  uncovered: 'refuse',
  mapClaims: (claims) => {
    expectType(claims).is<Record<string, unknown>>()
    return { sub: String(claims['oid']), resources: { acme: ['order:read'] }, team: 7 }
  },
  isRevoked: async (userInfo, token) => {
    expectType(userInfo).is<UserInfo>()
    expectType(token).is<TokenInfo>()
    expectType(token.issuer).is<string | null>()
    expectType(token.sub).is<string | null>()
    expectType(token.jti).is<string | null>()
    expectType(token.sid).is<string | null>()
    expectType(token.issuedAt).is<Date | null>()
    expectType(token.expiresAt).is<Date>()
    // @ts-expect-error what a token says is told, not written
    token.jti = 'other'
    return userInfo.sub === 'mallory'
  },
  resolveTenant: (request) => {
    expectType(request).is<FastifyRequest>()
    return request.hostname.split('.')[0] ?? null
  },
  tokenFrom: ({ headers }) => headers['sec-websocket-protocol'] ?? null,
}
new AuthService(everything)
new AuthService({ tenants: 'https://auth.example/tenants' })
new AuthService({ tenants: (tenant) => tenant.length > 3 })
new AuthService({ tenants: async (tenant) => tenant.length > 3 })
new AuthService({ issuer: ['https://a.example', 'https://b.example'] as const })

// A variable may be missing, so the code must decide: without an issuer, any issuer would be
// accepted.
const issuer: string | undefined = process.env['ISSUER']
await app.register(tenantAuth, issuer === undefined ? {} : { issuer })

// Each of these would stop the boot; here it stops the build.

// @ts-expect-error a missing variable is not an issuer
await app.register(tenantAuth, { issuer })
// @ts-expect-error for the service too
new AuthService({ issuer })
// @ts-expect-error an option is left out in another way
new AuthService({ tenants: undefined })
// @ts-expect-error a file is left out in another way
new AuthService({ configFile: undefined })
// @ts-expect-error a misspelt option would not be set
new AuthService({ configfile: 'app.ini' })
// @ts-expect-error for the plugin too
await app.register(tenantAuth, { audiences: ['orders'] })
// @ts-expect-error the INI file's spelling is not the options'
new AuthService({ dev_mode: true })
// @ts-expect-error text is not a boolean: 'no' would be truthy
new AuthService({ devMode: 'no' })
// @ts-expect-error null is not `not given`
new AuthService({ issuer: null })
// @ts-expect-error seconds are a number
new AuthService({ keysMaxAge: '10m' })
// @ts-expect-error a word without a meaning
new AuthService({ uncovered: 'error' })
// @ts-expect-error a list of names, not of objects
new AuthService({ tenants: [{ id: 'lazy-raccoon' }] })
// @ts-expect-error an answer that is not a boolean decides nothing
new AuthService({ tenants: () => 'yes' })
// @ts-expect-error user info needs `sub`
new AuthService({ mapClaims: () => ({ resources: {} }) })
// @ts-expect-error rights are lists of ids
new AuthService({ mapClaims: () => ({ sub: 'a', resources: { acme: 'order:read' } }) })
// @ts-expect-error a tenant is text or null
new AuthService({ resolveTenant: () => undefined })
// @ts-expect-error the token is read at once, and never awaited
new AuthService({ tokenFrom: async () => 'token' })
// @ts-expect-error a PEM is not a JWK set
new AuthService({ publicKeys: '-----BEGIN PUBLIC KEY-----' })

// Prevents that an application changes its options at run time, and expects an effect.
const frozen: AuthOptions = { realm: 'orders' }
// @ts-expect-error options are read once
frozen.realm = 'menus'
// @ts-expect-error the file's name too
frozen.configFile = 'other.ini'
