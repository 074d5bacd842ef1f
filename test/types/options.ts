import Fastify, { type FastifyRequest } from 'fastify'
import tenantAuth, {
  type AuthOptions,
  type Authorization,
  AuthService,
  type IssuerRules,
  type ListedIssuer,
  type tenantAuth as named,
  type OpaqueToken,
  type RequestUser,
  type TokenInfo,
  type TokenUser,
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

// Every member of an issuer's rules, with a value of each kind that it takes.
const everyRule: Required<ListedIssuer> = {
  name: 'acme',
  issuer: 'https://idp.acme.example',
  tenants: '*',
  audience: ['orders', 'menus'],
  publicKeysUrl: 'https://idp.acme.example/keys',
  publicKeys: { keys: [{ kty: 'EC' }] },
  algorithms: ['ES256'],
  tokenTypes: ['at+jwt'],
  resourcesOf: async ({ issuer, sub }) => (issuer === null ? null : { acme: [`${sub}:read`] }),
  mapClaims: (claims) => {
    expectType(claims).is<Record<string, unknown>>()
    return { sub: String(claims['oid']) }
  },
}

// Every option, with a value of each kind that it takes.
const everything: Required<AuthOptions> = {
  configFile: 'app.ini',
  issuers: [everyRule, { issuer: 'https://a.example', tenants: ['acme'] }],
  issuersMaxAge: 300,
  issuersMax: 1000,
  allowPrivateIssuers: false,
  opaqueToken: async (token) => (token.startsWith('key-') ? { sub: token.slice(4) } : null),
  opaqueMaxAge: 30,
  resourcesOf: async (user) => {
    expectType(user).is<TokenUser>()
    expectType(user.issuer).is<string | null>()
    expectType(user.sub).is<string>()
    return user.sub === 'alice' ? { acme: ['order:read'] } : null
  },
  resourcesMaxAge: 30,
  confirmation: 'check',
  publicUrl: 'https://api.example/v2',
  proofMaxAge: 60,
  proofSeen: async (key, until) => {
    expectType(key).is<string>()
    expectType(until).is<Date>()
    return true
  },
  clientCertificate: (request) => {
    expectType(request).is<FastifyRequest>()
    return null
  },
  publicKeysUrl: 'https://auth.example/openidconnect/public_keys',
  publicKeys: { keys: [{ kty: 'EC' }] },
  multitenancy: true,
  devMode: false,
  devUserInfoPath: 'dev-userinfo.json',
  asyncContext: true,
  issuer: 'https://auth.example',
  audience: ['orders', 'menus'],
  algorithms: ['ES256', 'EdDSA'],
  tokenTypes: ['at+jwt'],
  clockTolerance: 0.5,
  maxTokenLength: 8192,
  realm: 'orders',
  resource: 'https://api.example/mcp',
  tenantParameter: 'org',
  tenantQuery: 'projectId',
  tenantDefault: true,
  undeclared: 'warn',
  superuserResource: 'authz:superuser',
  implies: { 'menu:edit': ['menu:read'] },
  suspendedTenants: 'read',
  checks: {
    'order:owner': async (authorization, { params }) => {
      expectType(authorization).is<Authorization | null>()
      return authorization?.has(String(params)) ?? false
    },
  },
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
  logBindings: ['tenant', 'sub', 'issuer'],
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
    expectType(token.expiresAt).is<Date | null>()
    // @ts-expect-error what a token says is read, not written
    token.jti = 'other'
    return userInfo.sub === 'mallory'
  },
  resolveTenant: (request, user) => {
    expectType(request).is<FastifyRequest>()
    expectType(user).is<RequestUser | null>()
    expectType(user?.tenants).is<ReadonlySet<string> | undefined>()
    return user?.sub ?? request.hostname.split('.')[0] ?? null
  },
  tokenFrom: ({ headers }) => headers['sec-websocket-protocol'] ?? null,
}
new AuthService(everything)
new AuthService({ tenants: 'https://auth.example/tenants' })
new AuthService({ tenants: (tenant) => tenant.length > 3 })
new AuthService({ tenants: async (tenant) => tenant.length > 3 })
new AuthService({ issuer: ['https://a.example', 'https://b.example'] as const })

// A function knows issuers by what a token says; it need not repeat it.
const rules: IssuerRules = { tenants: ['acme'] as const }
new AuthService({ issuers: (issuer) => (issuer.length > 3 ? rules : null) })
new AuthService({ issuers: async (issuer) => ({ ...rules, issuer }) })
new AuthService({ opaqueToken: (token) => token })
new AuthService({ resourcesOf: ({ sub }) => ({ acme: [`${sub}:read`] as const }) })
new AuthService({ tenants: { ids: ['acme'] as const, suspended: [] } })

// An interface has no index signature.
interface Row {
  sub: string
  preferred_username: string
  email: string
}
declare const row: Row
new AuthService({ mapClaims: () => row, opaqueToken: () => row })
new AuthService({ opaqueToken: async (token) => (token === '' ? null : row) })
new AuthService({ issuers: () => ({ tenants: '*', mapClaims: () => row }) })
declare const noUser: Omit<Row, 'sub'> & { resources: string[] }

// A function in a file of its own.
const mapClaims = ((claims) => ({
  ...row,
  team: claims['team'],
})) satisfies AuthOptions['mapClaims']
const opaqueToken: OpaqueToken = async () => row
new AuthService({ mapClaims, opaqueToken })

// A variable that may be missing needs a decision: without one any issuer would be accepted.
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
// @ts-expect-error other claims are not named in the log
new AuthService({ logBindings: ['email'] })
// @ts-expect-error the pin has no default
new AuthService({ issuers: [{ issuer: 'https://a.example' }] })
// @ts-expect-error in a list each names its issuer
new AuthService({ issuers: [{ tenants: '*' }] })
// @ts-expect-error `*` is every tenant, and any other text is a slip
new AuthService({ issuers: [{ issuer: 'https://a.example', tenants: 'acme' }] })
// @ts-expect-error a misspelt member would be one that is not set
new AuthService({ issuers: [{ issuer: 'https://a.example', tenants: '*', audiences: 'a' }] })
// @ts-expect-error nothing is no answer: `null` says that an issuer is unknown
new AuthService({ issuers: () => undefined })
// @ts-expect-error a column that is missing is no pin
new AuthService({ issuers: () => ({ tenants: undefined }) })
// @ts-expect-error true is no answer about a token
new AuthService({ opaqueToken: () => true })
// @ts-expect-error nothing is no answer: `null` says that a user is unknown
new AuthService({ resourcesOf: () => undefined })
// @ts-expect-error rights are lists of ids
new AuthService({ resourcesOf: () => ({ acme: 'order:read' }) })
// @ts-expect-error a list of names, not of objects
new AuthService({ tenants: [{ id: 'lazy-raccoon' }] })
// @ts-expect-error an answer that is not a boolean decides nothing
new AuthService({ tenants: () => 'yes' })
// @ts-expect-error claims are mapped at once, and never awaited
new AuthService({ mapClaims: async () => row })
// @ts-expect-error nothing is no user
new AuthService({ mapClaims: () => undefined })
// @ts-expect-error nor is one without `sub`
new AuthService({ mapClaims: () => noUser })
// @ts-expect-error nor one whose rights are a list
new AuthService({ mapClaims: () => ({ ...noUser, ...row }) })
// @ts-expect-error nothing is no answer: `null` says that a token is unknown
new AuthService({ opaqueToken: () => undefined })
// @ts-expect-error nor is a list of rows
new AuthService({ opaqueToken: () => [row] })
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

const ofKeys = { issuer: 'https://a.example.com', audience: 'lunch', tenants: '*' } as const
new AuthService({ issuers: [{ ...ofKeys, resourcesOf: 'claims' }] })
// @ts-expect-error another word is none
new AuthService({ issuers: [{ ...ofKeys, resourcesOf: 'token' }] })
// @ts-expect-error the option is a function
new AuthService({ resourcesOf: 'claims' })
