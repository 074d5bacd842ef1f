import { ownProperty } from '../outside/own-property.ts'
import { EVERY_TENANT } from '../tenants/tenant-name.ts'
import { listIn, tenantIn } from './claim.ts'
import { granting } from './grants.ts'
import { type MapClaims, userInfo } from './mapped-user.ts'

export interface Auth0Options {
  /**
   * The claim that names the tenant. Names are sent only where the server is set to; ids never
   * change.
   * @default 'org_id'
   */
  readonly tenant?: 'org_id' | 'org_name' | undefined
}

/**
 * Auth0, access tokens of an API with RBAC and "Add Permissions in the Access Token". The tenant is
 * the organization that the user logged in to; each of `permissions` that is a resource id is one,
 * as it stands (`read:menu`). They are the organization's, so they are granted in it; a token of no
 * organization carries the user's own permissions, which are granted under `*`, and names no
 * tenant. Auth0 Docs: "Work with Tokens and Organizations", "Enable Role-Based Access Control for
 * APIs".
 */
export function auth0({ tenant = 'org_id' }: Auth0Options = {}): MapClaims {
  const grants = granting('permission', 'verbatim')
  return (claims) => {
    const permissions = listIn(claims, 'permissions').flatMap(grants)
    // By either name: the rights in one organization must never become rights in all.
    const ofOrganization = ['org_id', 'org_name'].some(
      (name) => ownProperty(claims, name) !== undefined,
    )
    const where = ofOrganization ? tenantIn(claims, tenant) : EVERY_TENANT
    return userInfo(claims, [[where, permissions]])
  }
}
