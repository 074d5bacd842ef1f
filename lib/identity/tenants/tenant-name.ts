import { type AuthError, ERR_AUTH_TENANT_INVALID, ERR_AUTH_TENANT_MISSING } from '../../errors.ts'
import { withoutStack } from '../../platform/runtime/error.ts'

/** Most characters of a tenant's name. */
export const MAX_TENANT_LENGTH = 255

/** In `resources`, the key of what is granted in every tenant. It is never a tenant's name. */
export const EVERY_TENANT = '*'

/** U+0000 to U+001F, U+007F to U+009F, and halves of surrogate pairs, which are no whole text. */
const NO_TEXT = /[\p{Cc}\p{Cs}]/u

/** True: a value can be a tenant's name. Names are compared exactly, never normalized. */
export function isTenantName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value !== EVERY_TENANT &&
    value.length <= MAX_TENANT_LENGTH &&
    !NO_TEXT.test(value)
  )
}

/** ERR_AUTH_TENANT_INVALID unless the value is one tenant's name. */
export function readTenant(value: unknown): string | AuthError {
  if (isTenantName(value)) return value
  return withoutStack(() => new ERR_AUTH_TENANT_INVALID('not one tenant name'))
}

export function missingTenantRefusal(): AuthError {
  return withoutStack(() => new ERR_AUTH_TENANT_MISSING('no tenant is given'))
}
