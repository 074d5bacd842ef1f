import { app, isMultitenant } from './application.ts'
import { expectType } from './expect-type.ts'

app.get('/:tenant/a', { config: { tenant: 'required' } }, async (request) => {
  // Prevents a null check where requests without a tenant are refused.
  expectType(request.tenant).is<string>()
})

app.get('/b', { config: { tenant: true } }, async (request) => {
  // Prevents a handler that forgets that with multitenancy off there is no tenant.
  expectType(request.tenant).is<string | null>()
})

app.get('/c', { config: { tenant: 'optional' } }, async (request) => {
  // Prevents a handler that forgets requests without a tenant.
  expectType(request.tenant).is<string | null>()
})

app.get('/d', { config: { tenant: false } }, async (request) => {
  // Prevents the use of a tenant that was not declared: `false` is not a declaration.
  expectType(request.tenant).is<undefined>()
})

app.get('/e', { config: { tenant: undefined } }, async (request) => {
  // `undefined` is not a declaration either.
  expectType(request.tenant).is<undefined>()
})

app.get('/f', { config: {} }, async (request) => {
  // Prevents the use of a tenant that a visible config does not declare.
  expectType(request.tenant).is<undefined>()
})

app.get('/g', { config: { userInfo: true, require: ['menu:read'] } }, async (request) => {
  // Other keys do not declare it either.
  expectType(request.tenant).is<undefined>()
})

app.get('/:tenant/h', { config: { noauth: true } }, async (request) => {
  // Prevents trust in a path's tenant that was not checked.
  expectType(request.tenant).is<undefined>()
})

app.get('/:tenant/h2', { config: { noauth: true, tenant: 'required' } }, async (request) => {
  // Prevents a null check on an open route that is for a tenant, and the use of a user there.
  expectType(request.tenant).is<string>()
  expectType(request.userInfo).is<undefined>()
})

app.get('/i', async (request) => {
  // Without a config the types cannot know the declaration. So they have all that may be there.
  expectType(request.tenant).is<string | null | undefined>()
})

app.get('/j', {}, async (request) => {
  // Options without a config are the same.
  expectType(request.tenant).is<string | null | undefined>()
})

app.get('/k', { config: { tenant: isMultitenant } }, async (request) => {
  // Prevents `undefined` alone, or `string | null` alone, if the declaration is decided only at run
  // time.
  expectType(request.tenant).is<string | null | undefined>()
})

app.get('/l', { config: { tenant: isMultitenant && 'required' } }, async (request) => {
  // A declaration that may be off gives undefined, but not null.
  expectType(request.tenant).is<string | undefined>()
})

app.get('/m', { config: { tenant: isMultitenant || 'required' } }, async (request) => {
  // Of two declarations, the one that promises less holds.
  expectType(request.tenant).is<string | null>()
})

declare const optionalKey: { tenant?: 'required' }
app.get('/n', { config: optionalKey }, async (request) => {
  // Prevents `string` if the key may be absent.
  expectType(request.tenant).is<string | null | undefined>()
})

declare const record: Record<string, unknown>
app.get('/o', { config: record }, async (request) => {
  // Prevents `undefined` if the key may be there although no type names it.
  expectType(request.tenant).is<string | null | undefined>()
})

declare const eitherConfig: { tenant: 'required' } | { userInfo: true }
app.get('/p', { config: eitherConfig }, async (request) => {
  // Prevents that only one of two configs is read.
  expectType(request.tenant).is<string | undefined>()
})

const shared = { tenant: 'required', require: ['menu:read'] } as const
app.get('/:tenant/q', { config: shared }, async (request) => {
  // Prevents that a readonly declaration shared by routes is lost.
  expectType(request.tenant).is<string>()
})

app.get('/:tenant/r', { config: { tenant: 'required', cost: 3 } }, async (request) => {
  // Prevents that our keys hide an application's own, or widen the types of ours.
  expectType(request.routeOptions.config.cost).is<number>()
  expectType(request.routeOptions.config.tenant).is<'required'>()
  expectType(request.tenant).is<string>()
})
