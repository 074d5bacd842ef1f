import { isTenantName } from '../tenants/tenant-name.ts'
import type { Asked } from './asked.ts'
import { tenantInUrl } from './decide.ts'

/** The valid name that a request asks for, where it is known. Nothing is asked to find it. */
export function askedTenant(asked: Asked): string | null {
  return asked.tenant ?? namedInUrl(asked)
}

/**
 * Params and query come from the application's router and parser. They may be any objects, with
 * getters that throw.
 */
function namedInUrl(asked: Asked): string | null {
  try {
    const name = tenantInUrl(asked)
    return isTenantName(name) ? name : null
  } catch {
    return null
  }
}
