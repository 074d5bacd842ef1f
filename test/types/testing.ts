import { createPublicKey } from 'node:crypto'
import Fastify from 'fastify'
import tenantAuth, { AuthService } from 'fastify-tenant-auth'
import {
  assertGuarded,
  createTestAuthority,
  type ProbedRoute,
  probe,
  type TestAuthority,
} from 'fastify-tenant-auth/testing'
import { importJWK } from 'jose'
import { app } from './application.ts'
import { expectType } from './expect-type.ts'

const authority = await createTestAuthority()
expectType(authority).is<TestAuthority>()
await createTestAuthority({ issuer: 'https://a.example', audience: 'orders', algorithm: 'RS256' })

expectType(authority.issuer).is<string>()
expectType(authority.audience).is<string>()
expectType(authority.rotate()).is<Promise<void>>()
expectType(authority.listen()).is<Promise<string>>()
expectType(authority.close()).is<Promise<void>>()
expectType(authority.token()).is<Promise<string>>()

// Prevents that an application must ask for `lib: esnext.disposable` itself: no tsconfig here does.
{
  await using closing = await createTestAuthority()
  expectType(closing).is<TestAuthority>()
  expectType(closing[Symbol.asyncDispose]()).is<Promise<void>>()
  expectType<AsyncDisposable>(closing)
}

// Prevents that a key must be converted for Node or for jose.
const [key] = authority.publicKeys.keys
expectType(key?.kid).is<string | undefined>()
if (key !== undefined) {
  createPublicKey({ key, format: 'jwk' })
  await importJWK(key)
}

// Prevents a conversion between what the authority gives and what the plugin takes.
await app.register(tenantAuth, authority.options)
new AuthService({ ...authority.options, multitenancy: false })
new AuthService({ publicKeys: authority.publicKeys, issuer: authority.issuer })
new AuthService({ publicKeysUrl: await authority.listen(0) })

// The same for its headers and what inject takes.
await app.inject({ url: '/', headers: await authority.headers({ resources: { acme: ['a:b'] } }) })

await authority.token({ sub: 'joe', preferred_username: 'Joe', resources: {}, department: 7 })
interface Customer {
  sub: string
  resources: { acme: string[] }
  plan: string
}
declare const customer: Customer
await authority.token(customer)
await authority.headers(customer)
await authority.bound(customer)
await authority.token({}, { expiresIn: -1, notBefore: 60, issuedAt: -60, header: { typ: 'JWT' } })
await authority.token({}, { issuer: undefined, audience: undefined, expiresIn: undefined })
await authority.token({}, { audience: ['orders', 'menus'] })

// @ts-expect-error seconds, not a phrase: the token would not be the one that was meant
await authority.token({}, { expiresIn: '5m' })
// @ts-expect-error a misspelt option
await authority.token({}, { expiresin: 5 })
// @ts-expect-error a user is no text
await authority.token('alice')
// @ts-expect-error nor a promise of one
await authority.token(Promise.resolve(customer))
// @ts-expect-error nor one whose name is a number
await authority.token({ ...customer, sub: 7 })
// @ts-expect-error a user's rights are lists of ids by tenant
await authority.headers({ resources: ['order:read'] })
// @ts-expect-error a misspelt option of the authority
await createTestAuthority({ issuers: 'https://a.example' })

// Prevents that an application of another server or type provider must be converted.
expectType(await probe(app, authority)).is<ProbedRoute[]>()
await probe(Fastify({ http2: true }), authority, { tenant: 'acme' })
expectType(
  await assertGuarded(app, authority, {
    headers: (tenant) => ({ 'x-tenant': tenant }),
    body: (tenant) => ({ project: tenant }),
    claims: ({ sub, resources }) => ({ sub, realm_access: resources }),
  }),
).is<void>()
const [row] = await probe(app, authority)
expectType(row?.noauth).is<boolean | null | undefined>()
expectType(row?.foreigner).is<number | null | undefined>()
// @ts-expect-error the tokens of a probe must be good: it needs who signs them
await probe(app)
// @ts-expect-error a misspelt option
await assertGuarded(app, authority, { tenants: ['acme'] })
