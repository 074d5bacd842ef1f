import Fastify from 'fastify'
import {
  type Authorization,
  AuthService,
  currentAuthorization,
  type InternalUser,
  type ListedRoute,
} from 'fastify-tenant-auth'
import { app } from './application.ts'
import { expectType } from './expect-type.ts'

// Prevents that the plugin's users get less than those who make the service themselves.
expectType(app.authService).is<AuthService>()

const auth = new AuthService({ configFile: 'app.ini' })
const publicApi = Fastify()
const adminApi = Fastify()
expectType(auth.install(publicApi)).is<Promise<void>>()
await auth.install(adminApi)
expectType(auth.isReady()).is<boolean>()
expectType(auth.refreshKeys()).is<Promise<void>>()
expectType(auth.routes()).is<ListedRoute[]>()
expectType(auth.routes(publicApi)).is<ListedRoute[]>()

// Prevents that code below a handler takes a user for granted: there is none outside of requests.
expectType(currentAuthorization()).is<Authorization | null>()

const job: InternalUser = { sub: 'job:bills', tenant: 'acme', resources: ['order:read'] as const }
expectType(auth.actAs(job, () => 7)).is<Promise<number>>()
expectType(auth.actAs(job, async () => 'done')).is<Promise<string>>()
// @ts-expect-error work is for one tenant
auth.actAs({ sub: 'job:bills', resources: [] }, () => 7)
// @ts-expect-error a column that is missing is no tenant
auth.actAs({ sub: 'job:bills', tenant: undefined, resources: [] }, () => 7)
// @ts-expect-error the ids are of one tenant, and no claim
auth.actAs({ sub: 'job:bills', tenant: 'acme', resources: { acme: [] } }, () => 7)
// @ts-expect-error a misspelt member would be left out
auth.actAs({ ...job, resource: 'order:read' }, () => 7)
// @ts-expect-error work is a function, which begins under the authorization
auth.actAs(job, Promise.resolve(7))

const caller = await auth.authenticate({ token: 'a', tenant: 'acme', require: { any: ['a:b'] } })
expectType(caller.authorization.tenant).is<string | null>()
expectType(caller.signal).is<AbortSignal>()
await auth.authenticate({ token: 'a', tenant: null, require: ['a:b'] })
// @ts-expect-error a handshake without a token
auth.authenticate({ tenant: 'acme' })
// @ts-expect-error a header that is missing is no token
auth.authenticate({ token: undefined })
// @ts-expect-error a tenant that is missing does not mean none
auth.authenticate({ token: 'a', tenant: undefined })
// @ts-expect-error there is no request to choose by
auth.authenticate({ token: 'a', require: { by: () => 'a:b', among: ['a:b'] } })
// @ts-expect-error a misspelt member would be left out
auth.authenticate({ token: 'a', tenants: 'acme' })

for (const route of app.authService.routes()) {
  // Prevents that "not known" is read as "no": null says that the policy was not seen.
  expectType(route.method).is<string>()
  expectType(route.url).is<string>()
  expectType(route.noauth).is<boolean | null>()
  expectType(route.tenant).is<'path' | 'query' | 'optional' | null>()
  expectType(route.require).is<
    | readonly string[]
    | { readonly any: readonly string[] }
    | { readonly among: readonly string[] }
    | null
  >()
  expectType(route.seen).is<boolean>()
  // @ts-expect-error the list is for reading; it configures nothing
  route.noauth = true
}

// @ts-expect-error the service of a scope cannot be replaced at run time
app.authService = auth
// @ts-expect-error its parts are private
app.authService.authenticator
