import { entryPointOptions } from '../../config/option-reader.ts'
import { Custom, isText, isWordOf, Maybe } from '../../config/option-types.ts'
import { EVERY_TENANT } from '../../identity/tenants/tenant-name.ts'
import { isObject, ownProperty } from '../../platform/runtime/own-property.ts'
import {
  GRANTS,
  type Grants,
  granting,
  listIn,
  type MapClaims,
  malformed,
  objectIn,
  type Right,
  tenantName,
  userInfo,
} from './mapping.ts'

export interface KeycloakOptions {
  /**
   * Whose roles count.
   * - `realm`: those at the top of the token. They are granted under `*`: in every organization
   *   that the token names, and in requests without a tenant. Keycloak adds to them the roles of
   *   organization groups, of all organizations. If such groups have roles, this is the wrong
   *   choice.
   * - `organization`: those inside `organization.<alias>` (mapper Organization Group Membership
   *   with "Add group role mappings"). They are granted in that organization only.
   */
  readonly rolesOf: 'realm' | 'organization'
  /**
   * The client whose roles count: its key in `resource_access`. Not given: client roles grant
   * nothing.
   */
  readonly client?: string | undefined
  /** The ids that realm roles grant. Not given: `realm:<role>`. */
  readonly realmRoles?: Grants | undefined
  /** The ids that the client's roles grant. Not given: `client:<role>`. */
  readonly clientRoles?: Grants | undefined
}

const MEMBERS = {
  rolesOf: Custom("'realm' or 'organization'", isWordOf(['realm', 'organization'])),
  client: Maybe('a non-empty string', isText),
  realmRoles: GRANTS,
  clientRoles: GRANTS,
}

/**
 * Keycloak 26, access tokens. Tenants are the aliases in the claim `organization`, in each of its
 * three shapes: one string, a list, an object. Roles are those of `realm_access.roles` and
 * `resource_access.<client>.roles`. ID tokens (`typ: ID`) are refused. Server Administration Guide:
 * "Mapping organization claims", "Managing groups".
 *
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options
 * @example
 * mapClaims: keycloak({
 *   rolesOf: 'realm',
 *   client: 'menu-api',
 *   clientRoles: { cook: ['menu:read', 'menu:edit'] },
 * })
 */
export function keycloak(options: KeycloakOptions): MapClaims {
  const read = entryPointOptions('keycloak', options, MEMBERS).finish()
  const { rolesOf, client, realmRoles, clientRoles } = read
  const realmGrants = granting('realm', realmRoles)
  const clientGrants = granting('client', clientRoles)
  const rolesAt = (holder: object): readonly string[] => {
    const ofRealm = listIn(objectIn(holder, 'realm_access'), 'roles').flatMap(realmGrants)
    if (client === undefined) return ofRealm
    const ofClient = objectIn(objectIn(holder, 'resource_access'), client)
    return [...ofRealm, ...listIn(ofClient, 'roles').flatMap(clientGrants)]
  }
  return (claims) => {
    if (!ACCESS_TOKEN.includes(ownProperty(claims, 'typ'))) throw malformed('typ')
    const organizations = organizationsOf(ownProperty(claims, 'organization'))
    const isOfRealm = rolesOf === 'realm'
    const rights = organizations.map(
      ([alias, details]): Right => [alias, isOfRealm ? [] : rolesAt(details)],
    )
    return userInfo(claims, isOfRealm ? [[EVERY_TENANT, rolesAt(claims)], ...rights] : rights)
  }
}

/** The `typ` claims of access tokens: the second one of those that are bound by DPoP. */
const ACCESS_TOKEN: readonly unknown[] = ['Bearer', 'DPoP']

/** Keycloak's three shapes: an alias, a list of aliases, or an object with data for each alias. */
function organizationsOf(claim: unknown): (readonly [alias: string, details: object])[] {
  if (claim === undefined) return []
  if (typeof claim === 'string') return [[tenantName('organization', claim), {}]]
  if (Array.isArray(claim)) return claim.map((alias) => [tenantName('organization', alias), {}])
  if (!isObject(claim)) throw malformed('organization')
  const aliases = Object.keys(claim)
  return aliases.map((alias) => [tenantName('organization', alias), objectIn(claim, alias)])
}
