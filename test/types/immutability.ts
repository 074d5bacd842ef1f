import { app } from './application.ts'
import { expectType } from './expect-type.ts'

// What a handler receives is immutable at run time. The build reports an attempt, not a
// TypeError in production.

const everything = {
  tenant: 'required',
  userInfo: true,
  resources: true,
  authorization: true,
} as const

app.get('/:tenant/a', { config: everything }, async (request) => {
  // @ts-expect-error the tenant is decided, not chosen
  request.tenant = 'other'
  // @ts-expect-error nor is the user
  request.userInfo = { sub: 'admin' }
  // @ts-expect-error nor are the rights
  request.resources = new Set(['order:cancel'])
  // @ts-expect-error nor the authorization
  request.authorization = request.authorization.in('other')

  // @ts-expect-error claims are verified, not written
  request.userInfo.sub = 'admin'
  // @ts-expect-error each claim
  request.userInfo['department'] = 'sales'
  // @ts-expect-error users are not let into a tenant here
  if (request.userInfo.resources) request.userInfo.resources['other'] = []
  // @ts-expect-error and do not get a right in one
  request.userInfo.resources?.['acme']?.push('order:cancel')

  // @ts-expect-error resources are granted by the token
  request.resources.add('order:cancel')
  // @ts-expect-error and not taken away here
  request.resources.delete('order:cancel')
  // @ts-expect-error not even one of them
  request.resources.clear()
  // @ts-expect-error the same set in another way
  request.authorization.resources.add('order:cancel')
  // @ts-expect-error tenants are granted by the token
  request.authorization.tenants.add('other')

  // @ts-expect-error `in` gives the rights in another tenant
  request.authorization.tenant = 'other'
  // @ts-expect-error the end of the rights is the token's
  request.authorization.expiresAt = new Date()

  // Each reading gives a new Date, so a change of it has no effect.
  const until = request.authorization.expiresAt
  until.setTime(0)
  expectType(until).is<Date>()
})
