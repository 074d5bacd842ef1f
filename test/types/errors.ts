import {
  type Authorization,
  AuthService,
  errors,
  type Refusal,
  refusalOf,
} from 'fastify-tenant-auth'
import { app } from './application.ts'
import { expectType, expectTypes } from './expect-type.ts'

// Prevents a code without a class, a class under another name, and one that is removed unnoticed.
expectTypes<
  keyof typeof errors,
  | 'AuthError'
  | 'ERR_AUTH_TOKEN_MISSING'
  | 'ERR_AUTH_TOKEN_INVALID'
  | 'ERR_AUTH_STEP_UP_REQUIRED'
  | 'ERR_AUTH_TENANT_FORBIDDEN'
  | 'ERR_AUTH_RESOURCE_MISSING'
  | 'ERR_AUTH_TENANT_MISSING'
  | 'ERR_AUTH_TENANT_INVALID'
  | 'ERR_AUTH_TENANT_UNKNOWN'
  | 'ERR_AUTH_TENANT_SUSPENDED'
  | 'ERR_AUTH_NOT_PERMITTED'
  | 'ERR_AUTH_KEYS_UNAVAILABLE'
  | 'ERR_AUTH_TENANTS_UNAVAILABLE'
  | 'ERR_AUTH_REVOCATION_UNAVAILABLE'
  | 'ERR_AUTH_ISSUERS_UNAVAILABLE'
  | 'ERR_AUTH_INTROSPECTION_UNAVAILABLE'
  | 'ERR_AUTH_RESOURCES_UNAVAILABLE'
  | 'ERR_AUTH_PROOFS_UNAVAILABLE'
  | 'ERR_AUTH_CHECK_UNAVAILABLE'
  | 'ERR_AUTH_CONFIG_INVALID'
  | 'ERR_AUTH_ROUTE_INVALID'
>()

app.setErrorHandler((error, _request, reply) => {
  if (error instanceof errors.AuthError) {
    // Prevents casts in an application's error handler: the base class is enough for an answer.
    expectType(error.code).is<string>()
    expectType(error.statusCode).is<number>()
    expectType(error.status).is<number>()
    expectType(error.expose).is<boolean>()
    expectType(error.message).is<string>()
    expectType(error.reason).is<string>()
    expectType(error.retryAfter).is<number | null>()
    expectType(error.challenge).is<{
      readonly error?:
        | 'invalid_token'
        | 'invalid_dpop_proof'
        | 'insufficient_scope'
        | 'insufficient_user_authentication'
      readonly scope?: readonly string[]
      readonly stepUp?: { readonly acr: readonly string[]; readonly maxAge: number | null }
    } | null>()
    // @ts-expect-error an error does not decide how it is answered
    error.headers
    // @ts-expect-error the guard's answer cannot be changed by others
    error.statusCode = 200
    return reply.code(error.statusCode).send({ code: error.code })
  }
  return reply.send(error)
})

// Prevents that an audit needs a cast, in each hook and for each route.
app.addHook('onError', async (request) => {
  expectType(refusalOf(request)).is<Refusal | null>()
})
app.addHook('onResponse', async (request) => {
  const refusal = refusalOf(request)
  if (refusal === null) return
  expectType(refusal.error).is<errors.AuthError>()
  expectType(refusal.authorization).is<Authorization | null>()
  expectType(refusal.tenant).is<string | null>()
  // @ts-expect-error a refusal is not changed
  refusal.tenant = 'other'
})
app.get<{ Querystring: { page: number } }>('/pages', {
  onSend: async (request) => {
    expectType(refusalOf(request)).is<Refusal | null>()
  },
  handler: async () => 'page',
})

/** As any `catch` gives it. */
export function explain(error: unknown): string {
  if (error instanceof errors.ERR_AUTH_TENANT_UNKNOWN) {
    // One class, one code: the class names the answer.
    expectType(error.code).is<'ERR_AUTH_TENANT_UNKNOWN'>()
    expectType(error.statusCode).is<404>()
    expectType(error.status).is<404>()
    return 'no such tenant'
  }
  if (error instanceof errors.ERR_AUTH_KEYS_UNAVAILABLE) {
    expectType(error.code).is<'ERR_AUTH_KEYS_UNAVAILABLE'>()
    expectType(error.statusCode).is<503>()
    expectType(error.retryAfter).is<number>()
    return `in ${error.retryAfter} s`
  }
  // Prevents that a failed `instanceof` removes too much from the type.
  expectType(error).is<unknown>()
  return 'unknown'
}

type ClassNames = Exclude<keyof typeof errors, 'AuthError'>
type CodeOf<Name extends ClassNames> = InstanceType<(typeof errors)[Name]>['code']
// Prevents a class whose code is not its name.
expectTypes<{ [Name in ClassNames]: CodeOf<Name> }, { [Name in ClassNames]: Name }>()

// @ts-expect-error the base class has no code of its own
new errors.AuthError('no')

const refresh = new AuthService().refreshKeys()
expectType(refresh).is<Promise<void>>()
