import type { RouteDeclaration } from 'fastify-tenant-auth'
import { app } from './application.ts'
import { expectType, expectTypes } from './expect-type.ts'

declare const readonlyIds: readonly string[]
const answer = async () => 'ok'

// What a route may say.
app.get('/a', { config: { require: 'menu:read' } }, answer)
app.get('/b', { config: { require: ['menu:read', 'menu:write'] } }, answer)
app.get('/c', { config: { require: { any: ['menu:read', 'menu:write'] } } }, answer)
app.get('/d', { config: { require: readonlyIds } }, answer)
app.get('/e', { config: { require: { any: readonlyIds } } }, answer)
app.get('/f', { config: { require: undefined, noauth: undefined, userInfo: undefined } }, answer)
app.get('/ae', { config: { stepUp: { acr: 'phr' } } }, answer)
app.get('/af', { config: { stepUp: { acr: ['phr', 'phrh'], maxAge: 300 } } }, answer)
app.get('/ag', { config: { stepUp: { acr: readonlyIds } } }, answer)
app.get('/ah', { config: { stepUp: false } }, answer)
app.get('/ai', { config: { stepUp: { maxAge: 0 }, authorization: true } }, async (request) => {
  // Prevents that a key hides what the others declare.
  expectType(request.authorization.stepUp({ maxAge: 60 })).is<void>()
  request.authorization.stepUp({ acr: readonlyIds, maxAge: 60 })
  const { stepUp } = request.authorization
  // @ts-expect-error it is a method of an authorization
  stepUp({ maxAge: 60 })
  // @ts-expect-error it wants something
  request.authorization.stepUp()
  // @ts-expect-error it wants something
  request.authorization.stepUp({})
  // @ts-expect-error seconds are a number
  request.authorization.stepUp({ maxAge: '60' })
})
app.get('/g', { config: { require: false, noauth: false, userInfo: false } }, answer)

app.get('/ba', { config: { tenant: 'required', late: true } }, async (request) => {
  expectType(request.tenant).is<string>()
})
app.get('/bb', { config: { tenant: false, require: false, late: false } }, answer)
app.get('/bc', { config: { noauth: true, tenant: 'required', check: 'signature' } }, answer)

// Each of these would stop the boot; here it stops the build.

// @ts-expect-error a tenant that is neither declared nor not: the route would be guarded for no
// tenant
app.get('/h', { config: { tenant: 'yes' } }, answer)
// @ts-expect-error a misspelt word of ours
app.get('/i', { config: { tenant: 'require' } }, answer)
// @ts-expect-error null is no way to say no
app.get('/j', { config: { tenant: null } }, answer)
// @ts-expect-error a number is no declaration
app.get('/k', { config: { tenant: 1 } }, answer)
// @ts-expect-error an open route must be declared by a boolean
app.get('/l', { config: { noauth: 'true' } }, answer)
// @ts-expect-error late is a boolean
app.get('/bd', { config: { tenant: true, late: 'body' } }, answer)
// @ts-expect-error a login that is wanted says how, or how lately
app.get('/aa', { config: { stepUp: {} } }, answer)
// @ts-expect-error `true` says neither
app.get('/ab', { config: { stepUp: true } }, answer)
// @ts-expect-error an age is a number
app.get('/ac', { config: { stepUp: { maxAge: '300' } } }, answer)
// @ts-expect-error a truthy number is not a boolean
app.get('/m', { config: { noauth: 1 } }, answer)
// @ts-expect-error text is not a boolean
app.get('/n', { config: { userInfo: 'yes' } }, answer)
// @ts-expect-error a list of resources is what a user holds; a route demands them by `require`
app.get('/o', { config: { resources: ['menu:read'] } }, answer)
// @ts-expect-error `authorization` declares, it does not configure
app.get('/p', { config: { authorization: {} } }, answer)
// @ts-expect-error `true` names no resource to require
app.get('/q', { config: { require: true } }, answer)
// @ts-expect-error an id is text
app.get('/r', { config: { require: 3 } }, answer)
// @ts-expect-error each id is text
app.get('/s', { config: { require: ['menu:read', 3] } }, answer)
// @ts-expect-error `any` takes a list
app.get('/t', { config: { require: { any: 'menu:read' } } }, answer)
// @ts-expect-error all of a list is the plain list
app.get('/u', { config: { require: { all: ['menu:read'] } } }, answer)
// @ts-expect-error a wrong value is refused by app.route too
app.route({ method: 'GET', url: '/w', config: { tenant: 'yes' }, handler: answer })
// @ts-expect-error also if the generics are explicit
app.get<{ Querystring: { page: string } }>('/x', { config: { tenant: 'yes' } }, answer)
// @ts-expect-error the config must keep what the second argument promises: true may be null
app.get<{ Body: string }, { tenant: 'required' }>('/y', { config: { tenant: true } }, answer)

// For declarations that an application computes before it writes its routes.
const declaration: RouteDeclaration = { tenant: 'required', require: { any: ['menu:read'] } }
app.get('/z', { config: declaration }, answer)
// @ts-expect-error not a key of ours
const slip: RouteDeclaration = { noAuth: true }
app.get('/v', { config: slip }, answer)

// @ts-expect-error not a member of a login
const login: RouteDeclaration = { stepUp: { acr: 'phr', amr: ['mfa'] } }
app.get('/ad', { config: login }, answer)

// Prevents that a key is added or lost unnoticed.
expectTypes<
  keyof RouteDeclaration,
  | 'noauth'
  | 'tenant'
  | 'userInfo'
  | 'resources'
  | 'authorization'
  | 'guests'
  | 'suspended'
  | 'late'
  | 'require'
  | 'check'
  | 'confirmation'
  | 'stepUp'
>()
