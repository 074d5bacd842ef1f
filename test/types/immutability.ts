import { app } from './application.ts'
import { expectType } from './expect-type.ts'

// What a handler receives is immutable at run time. Whoever tries is told by the build, not by a TypeError in production.

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
  // @ts-expect-error whatever claim it is
  request.userInfo['department'] = 'sales'
  // @ts-expect-error nobody is let into a tenant here
  if (request.userInfo.resources) request.userInfo.resources['other'] = []
  // @ts-expect-error or given a right in one
  request.userInfo.resources?.['acme']?.push('order:cancel')

  // @ts-expect-error resources are granted by the token
  request.resources.add('order:cancel')
  // @ts-expect-error and not taken away here
  request.resources.delete('order:cancel')
  // @ts-expect-error none of them
  request.resources.clear()
  // @ts-expect-error the same set by another way
  request.authorization.resources.add('order:cancel')
  // @ts-expect-error tenants are granted by the token
  request.authorization.tenants.add('other')

  // @ts-expect-error another tenant's rights are had by `in`
  request.authorization.tenant = 'other'
  // @ts-expect-error the end of the rights is the token's
  request.authorization.expiresAt = new Date()

  // A new Date at each reading: what is done to it reaches nobody.
  const until = request.authorization.expiresAt
  until.setTime(0)
  expectType(until).is<Date>()
})
