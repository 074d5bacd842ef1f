import type { Actor, Authorization, UserInfo } from 'fastify-tenant-auth'
import { app, isMultitenant } from './application.ts'
import { expectType } from './expect-type.ts'

const everything = { userInfo: true, resources: true, authorization: true } as const

app.get('/a', { config: everything }, async (request) => {
  // Prevents needless checks for what the route declares.
  expectType(request.userInfo).is<UserInfo>()
  expectType(request.resources).is<ReadonlySet<string>>()
  expectType(request.authorization).is<Authorization>()
  expectType(request.authorization.suspended).is<boolean>()
})

app.get('/b', { config: { userInfo: true } }, async (request) => {
  // Prevents that one declaration is taken for another.
  expectType(request.userInfo).is<UserInfo>()
  expectType(request.resources).is<undefined>()
  expectType(request.authorization).is<undefined>()
})

app.get('/c', { config: { resources: true } }, async (request) => {
  expectType(request.userInfo).is<undefined>()
  expectType(request.resources).is<ReadonlySet<string>>()
  expectType(request.authorization).is<undefined>()
})

app.get('/d', { config: { authorization: true } }, async (request) => {
  expectType(request.userInfo).is<undefined>()
  expectType(request.resources).is<undefined>()
  expectType(request.authorization).is<Authorization>()
})

app.get('/e', { config: { noauth: true } }, async (request) => {
  // Prevents the use of a user on a route that does not declare one.
  expectType(request.userInfo).is<undefined>()
  expectType(request.resources).is<undefined>()
  expectType(request.authorization).is<undefined>()
})

app.get('/f', { config: { userInfo: false, resources: undefined } }, async (request) => {
  // Prevents that the mere presence of a key counts.
  expectType(request.userInfo).is<undefined>()
  expectType(request.resources).is<undefined>()
})

app.get('/g', async (request) => {
  // Without a config: what may be there.
  expectType(request.userInfo).is<UserInfo | null | undefined>()
  expectType(request.resources).is<ReadonlySet<string> | undefined>()
  expectType(request.authorization).is<Authorization | null | undefined>()
})

app.get('/h', { config: { userInfo: isMultitenant } }, async (request) => {
  // Prevents certainty about what is decided only at run time.
  expectType(request.userInfo).is<UserInfo | undefined>()
})

declare const optionalKeys: { userInfo?: true; resources?: boolean }
app.get('/i', { config: optionalKeys }, async (request) => {
  expectType(request.userInfo).is<UserInfo | undefined>()
  expectType(request.resources).is<ReadonlySet<string> | undefined>()
  expectType(request.authorization).is<undefined>()
})

declare const record: Record<string, unknown>
app.get('/j', { config: record }, async (request) => {
  expectType(request.authorization).is<Authorization | null | undefined>()
})

app.get('/:tenant/k', { config: { authorization: true, tenant: 'required' } }, async (request) => {
  const { authorization } = request
  // Prevents that the types of an authorization's parts change unnoticed.
  expectType(authorization.tenant).is<string | null>()
  expectType(authorization.userInfo).is<UserInfo>()
  expectType(authorization.resources).is<ReadonlySet<string>>()
  expectType(authorization.actor).is<Actor | null>()
  expectType(authorization.actors).is<readonly Actor[]>()
  expectType(authorization.tenants).is<ReadonlySet<string>>()
  expectType(authorization.expiresAt).is<Date>()
  expectType(authorization.isSuperuser).is<boolean>()
  expectType(authorization.has('order:read', 'order:cancel')).is<boolean>()
  expectType(authorization.hasAny('order:read', 'order:cancel')).is<boolean>()
  expectType(authorization.require('order:read')).is<void>()
  expectType(authorization.requireAny('order:read', 'order:cancel')).is<void>()
  expectType(authorization.in('other')).is<Authorization>()
})

app.get('/m', { config: { authorization: true } }, async ({ authorization }) => {
  // Prevents a 500 of a method that has lost its authorization.
  const { has, hasAny, require, requireAny, in: elsewhere, toJSON } = authorization
  // @ts-expect-error
  has('order:read')
  // @ts-expect-error
  hasAny('order:read')
  // @ts-expect-error
  require('order:read')
  // @ts-expect-error
  requireAny('order:read')
  // @ts-expect-error
  elsewhere('other')
  // @ts-expect-error
  toJSON()
  const checks = ['order:read'].map((id) => authorization.has(id))
  expectType(checks).is<boolean[]>()
})

app.get('/l', { config: { userInfo: true } }, async ({ userInfo }) => {
  // Prevents that an optional claim is taken for granted, or any other claim for text.
  expectType(userInfo.sub).is<string>()
  expectType(userInfo.preferred_username).is<string | undefined>()
  expectType(userInfo.resources?.['acme']).is<readonly string[] | undefined>()
  expectType(userInfo['department']).is<unknown>()
})
