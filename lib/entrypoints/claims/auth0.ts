import { entryPointOptions } from '../../config/option-reader.ts'
import { isWordOf, Maybe } from '../../config/option-types.ts'
import { isResourceId } from '../../identity/authorization/resources.ts'
import { EVERY_TENANT } from '../../identity/tenants/tenant-name.ts'
import { ownProperty } from '../../platform/runtime/own-property.ts'
import { listIn, type MapClaims, tenantIn, userInfo } from './mapping.ts'

export interface Auth0Options {
  /**
   * The claim that names the tenant. Ids never change. Names are sent only if the server is set to
   * send them.
   * @default 'org_id'
   */
  readonly tenant?: 'org_id' | 'org_name' | undefined
}

const MEMBERS = { tenant: Maybe("'org_id' or 'org_name'", isWordOf(['org_id', 'org_name'])) }

/**
 * Auth0, access tokens of an API with RBAC and "Add Permissions in the Access Token". The tenant is
 * the organization that the user logged in to. Each of `permissions` that is a resource id grants
 * itself (`read:menu`). With an organization in the token, the permissions are granted in it.
 * Without one, the token names no tenant; its permissions are the user's own, and are granted under
 * `*`. Auth0 Docs: "Work with Tokens and Organizations", "Enable Role-Based Access Control for
 * APIs".
 *
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options
 */
export function auth0(options: Auth0Options = {}): MapClaims {
  const { tenant = 'org_id' } = entryPointOptions('auth0', options, MEMBERS).finish()
  return (claims) => {
    const permissions = listIn(claims, 'permissions').filter(isResourceId)
    // Either name counts here: rights in one organization must never become rights in all.
    const ofOrganization = ['org_id', 'org_name'].some(
      (name) => ownProperty(claims, name) !== undefined,
    )
    const where = ofOrganization ? tenantIn(claims, tenant) : EVERY_TENANT
    return userInfo(claims, [[where, permissions]])
  }
}
