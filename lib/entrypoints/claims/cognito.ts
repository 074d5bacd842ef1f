import { entryPointOptions } from '../../config/option-reader.ts'
import { isText, isWordOf, Maybe, Names } from '../../config/option-types.ts'
import { EVERY_TENANT } from '../../identity/tenants/tenant-name.ts'
import { ownProperty } from '../../platform/runtime/own-property.ts'
import {
  GRANTS,
  type Grants,
  granting,
  listIn,
  type MapClaims,
  malformed,
  type Right,
  tenantIn,
  userInfo,
} from './mapping.ts'

export interface CognitoOptions {
  /**
   * The app clients whose tokens are accepted. Access tokens of Cognito have no `aud` for the
   * option `audience` to check. Only their `client_id` says which app client they are for.
   */
  readonly clientId: string | readonly string[]
  /** Which tokens are accepted. @default 'access' */
  readonly tokenUse?: 'access' | 'id' | undefined
  /**
   * The claim that names the user's one tenant, such as `custom:tenant`. Then groups are granted in
   * that tenant, and a token without the claim grants nothing. No app client may have write access
   * to that attribute. Access tokens have custom attributes only from a pre token generation trigger
   * (V2_0 or later); with `tokenUse: 'id'` no trigger is needed. Not given: the groups' names hold
   * the tenants.
   */
  readonly tenantClaim?: string | undefined
  /** The ids that groups grant. Not given: `group:<name>`. */
  readonly groups?: Grants | undefined
}

const MEMBERS = {
  clientId: Names,
  tokenUse: Maybe("'access' or 'id'", isWordOf(['access', 'id'])),
  tenantClaim: Maybe('a non-empty string', isText),
  groups: GRANTS,
}

/**
 * Amazon Cognito user pools. Cognito knows no tenants. A group `<tenant>/<name>` in
 * `cognito:groups` lets the user act for that tenant, and grants there the ids of `<name>`. A group
 * without a slash belongs to the whole pool, and is granted under `*`. A token without
 * `preferred_username` uses `username`. Amazon Cognito Developer Guide: "Understanding the access
 * token", "Understanding the identity (ID) token", "Verifying JSON web tokens".
 *
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options
 */
export function cognito(options: CognitoOptions): MapClaims {
  const given = entryPointOptions('cognito', options, MEMBERS).finish()
  const { clientId, tokenUse = 'access', tenantClaim } = given
  const clients = [clientId].flat()
  const grants = granting('group', given.groups)
  return (claims) => {
    if (ownProperty(claims, 'token_use') !== tokenUse) throw malformed('token_use')
    const client = ownProperty(claims, tokenUse === 'access' ? 'client_id' : 'aud')
    if (typeof client !== 'string' || !clients.includes(client)) throw malformed('client_id')
    const username = ownProperty(claims, tokenUse === 'access' ? 'username' : 'cognito:username')
    const named = username === undefined ? claims : { preferred_username: username, ...claims }
    const groups = listIn(claims, 'cognito:groups')
    if (tenantClaim === undefined) {
      const rights = groups.flatMap((group) => rightsOfGroup(group, grants))
      return userInfo(named, rights)
    }
    if (ownProperty(claims, tenantClaim) === undefined) return userInfo(named, [])
    return userInfo(named, [[tenantIn(claims, tenantClaim), groups.flatMap(grants)]])
  }
}

function rightsOfGroup(group: string, grants: (name: string) => readonly string[]): Right[] {
  const slash = group.indexOf('/')
  if (slash === -1) return [[EVERY_TENANT, grants(group)]]
  const tenant = group.slice(0, slash)
  const name = group.slice(slash + 1)
  // `*/cook` must not grant everywhere what a cook may do.
  if (tenant === '' || tenant === EVERY_TENANT || name === '') return []
  return [[tenant, grants(name)]]
}
