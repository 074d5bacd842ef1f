import { isResourceId } from '../../identity/authorization/resources.ts'
import { listIn, type MapClaims, objectIn, type Right, userInfo } from './mapping.ts'

/**
 * SeaCat Auth. Its claim `resources` has the shape of user info: from a tenant, or `*`, to resource
 * ids. This recipe only leaves out what is not a resource id. The claim `tenants`, a list of
 * memberships, authorizes nothing and is not looked at. SeaCat Auth documentation: "Resources",
 * "Tenants".
 */
export const seacatAuth: MapClaims = (claims) => {
  const granted = objectIn(claims, 'resources')
  const rights = Object.keys(granted).map(
    (key): Right => [key, listIn(granted, key).filter(isResourceId)],
  )
  return userInfo(claims, rights)
}
