import { app, isMultitenant } from './application.ts'
import { expectType } from './expect-type.ts'

app.get('/:tenant/a', { config: { tenant: 'required' } }, async (request) => {
  // Prevents a null check where no request without a tenant gets through.
  expectType(request.tenant).is<string>()
})

app.get('/b', { config: { tenant: true } }, async (request) => {
  // Prevents a handler that forgets that with multitenancy off there is no tenant.
  expectType(request.tenant).is<string | null>()
})

app.get('/c', { config: { tenant: 'optional' } }, async (request) => {
  // Prevents a handler that forgets the request that names none.
  expectType(request.tenant).is<string | null>()
})

app.get('/d', { config: { tenant: false } }, async (request) => {
  // Prevents the use of a tenant that was not declared: `false` is no declaration.
  expectType(request.tenant).is<undefined>()
})

app.get('/e', { config: { tenant: undefined } }, async (request) => {
  // Nor is `undefined`.
  expectType(request.tenant).is<undefined>()
})

app.get('/f', { config: {} }, async (request) => {
  // Prevents the use of a tenant that a config visibly does not declare.
  expectType(request.tenant).is<undefined>()
})

app.get('/g', { config: { userInfo: true, require: ['menu:read'] } }, async (request) => {
  // Nor do other keys declare it.
  expectType(request.tenant).is<undefined>()
})

app.get('/:tenant/h', { config: { noauth: true } }, async (request) => {
  // Prevents trust in the tenant of a path that nobody checked.
  expectType(request.tenant).is<undefined>()
})

app.get('/i', async (request) => {
  // Without a config the types cannot know: all that may be there, so that nothing is taken for granted.
  expectType(request.tenant).is<string | null | undefined>()
})

app.get('/j', {}, async (request) => {
  // Options without a config are the same.
  expectType(request.tenant).is<string | null | undefined>()
})

app.get('/k', { config: { tenant: isMultitenant } }, async (request) => {
  // Prevents `undefined` alone, or `string | null` alone, where only the run decides what is declared.
  expectType(request.tenant).is<string | null | undefined>()
})

app.get('/l', { config: { tenant: isMultitenant && 'required' } }, async (request) => {
  // A declaration that may be off is not null, but may be undefined.
  expectType(request.tenant).is<string | undefined>()
})

app.get('/m', { config: { tenant: isMultitenant || 'required' } }, async (request) => {
  // Of two declarations the one that promises less holds.
  expectType(request.tenant).is<string | null>()
})

declare const optionalKey: { tenant?: 'required' }
app.get('/n', { config: optionalKey }, async (request) => {
  // Prevents `string`, where the key may be absent.
  expectType(request.tenant).is<string | null | undefined>()
})

declare const record: Record<string, unknown>
app.get('/o', { config: record }, async (request) => {
  // Prevents `undefined`, where the key may be there though no type names it.
  expectType(request.tenant).is<string | null | undefined>()
})

declare const eitherConfig: { tenant: 'required' } | { userInfo: true }
app.get('/p', { config: eitherConfig }, async (request) => {
  // Prevents the reading of one of two configs only.
  expectType(request.tenant).is<string | undefined>()
})

const shared = { tenant: 'required', require: ['menu:read'] } as const
app.get('/:tenant/q', { config: shared }, async (request) => {
  // Prevents that a declaration shared by routes, made readonly, is lost.
  expectType(request.tenant).is<string>()
})

app.get('/:tenant/r', { config: { tenant: 'required', cost: 3 } }, async (request) => {
  // Prevents that our keys swallow an application's own, or widen what it reads of ours.
  expectType(request.routeOptions.config.cost).is<number>()
  expectType(request.routeOptions.config.tenant).is<'required'>()
  expectType(request.tenant).is<string>()
})
