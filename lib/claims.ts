import type { UserInfo } from './identity/user-info.ts'

/**
 * Recipes for the option `mapClaims`, one for each authorization server that is met often: pure functions from
 * its verified claims to user info. What they have in common:
 *
 * - `resources` is made of the claims that the recipe names, and of nothing else: a claim of that name that such
 *   a server sends as well does not count. All other claims stay as they are.
 * - A named claim that is absent grants nothing. One of another shape than the server documents throws, and so
 *   the token is refused.
 * - What cannot be written as `<name>:<action>`, in the characters of a scope, grants nothing.
 */
export type MapClaims = (claims: Readonly<Record<string, unknown>>) => UserInfo

/**
 * What the roles or groups of a server grant. A table: the resource ids of each name, and nothing for a name that
 * is not in it. `verbatim`: a name that is a resource id grants itself, any other nothing. Not given: a name
 * grants the one id `<kind>:<name>`, where each recipe says what the kind is called.
 */
export type Grants = 'verbatim' | Readonly<Record<string, readonly string[]>>

export interface KeycloakOptions {
  /**
   * Whose roles count. `realm`: those at the top of the token, granted under `*`, so in every organization that
   * the token names, and where a request has no tenant. Keycloak adds the roles of all organization groups to
   * them, whichever organization they come from: where such groups have roles, this is the wrong choice.
   * `organization`: those inside `organization.<alias>` (mapper Organization Group Membership with "Add group
   * role mappings"), granted in that organization only.
   */
  readonly rolesOf: 'realm' | 'organization'
  /** The client whose roles count: its key in `resource_access`. Not given: client roles grant nothing. */
  readonly client?: string
  /** What realm roles grant. Not given: `realm:<role>`. */
  readonly realmRoles?: Grants
  /** What the client's roles grant. Not given: `client:<role>`. */
  readonly clientRoles?: Grants
}

/**
 * Keycloak 26, access tokens. Tenants are the aliases in the claim `organization`, in each of its three shapes:
 * one string, a list, an object. Roles are those of `realm_access.roles` and `resource_access.<client>.roles`.
 * ID tokens (`typ: ID`) are refused. Server Administration Guide: "Mapping organization claims", "Managing groups".
 *
 * @example mapClaims: keycloak({ rolesOf: 'realm', client: 'menu-api', clientRoles: { cook: ['menu:read', 'menu:edit'] } })
 */
export function keycloak(options: KeycloakOptions): MapClaims {
  const { rolesOf, client } = options
  if (rolesOf !== 'realm' && rolesOf !== 'organization') throw new TypeError('rolesOf is not given')
  const realmGrants = granting('realm', options.realmRoles)
  const clientGrants = granting('client', options.clientRoles)
  const rolesAt = (holder: object): readonly string[] => {
    const ofRealm = listIn(objectIn(holder, 'realm_access'), 'roles').flatMap(realmGrants)
    if (client === undefined) return ofRealm
    const ofClient = objectIn(objectIn(holder, 'resource_access'), client)
    return [...ofRealm, ...listIn(ofClient, 'roles').flatMap(clientGrants)]
  }
  return (claims) => {
    if (own(claims, 'typ') !== 'Bearer') throw malformed('typ')
    const organizations = organizationsOf(own(claims, 'organization'))
    if (rolesOf === 'organization') {
      return userInfo(
        claims,
        organizations.map(([alias, details]) => [alias, rolesAt(details)]),
      )
    }
    const memberships = organizations.map(([alias]): Right => [alias, []])
    return userInfo(claims, [[EVERY_TENANT, rolesAt(claims)], ...memberships])
  }
}

export interface Auth0Options {
  /** The claim that names the tenant. Names are sent only where the server is set to; ids never change. @default 'org_id' */
  readonly tenant?: 'org_id' | 'org_name'
}

/**
 * Auth0, access tokens of an API with RBAC and "Add Permissions in the Access Token". The tenant is the organization
 * that the user logged in to; each of `permissions` that is a resource id is one, as it stands (`read:menu`). They are
 * the organization's, so they are granted in it; a token of no organization carries the user's own permissions, which
 * are granted under `*`, and names no tenant. Auth0 Docs: "Work with Tokens and Organizations", "Enable Role-Based
 * Access Control for APIs".
 */
export function auth0({ tenant = 'org_id' }: Auth0Options = {}): MapClaims {
  const grants = granting('permission', 'verbatim')
  return (claims) => {
    const permissions = listIn(claims, 'permissions').flatMap(grants)
    // By either name: the rights in one organization must never become rights in all.
    const ofOrganization = ['org_id', 'org_name'].some((name) => own(claims, name) !== undefined)
    const where = ofOrganization ? tenantIn(claims, tenant) : EVERY_TENANT
    return userInfo(claims, [[where, permissions]])
  }
}

export interface EntraIdOptions {
  /** What app roles grant. Not given: `role:<value>`. */
  readonly roles?: Grants
}

/**
 * Microsoft Entra ID, access tokens of version 1.0 and 2.0. The tenant is the directory, by its id `tid`; the app
 * roles in `roles` are assigned in that directory, and granted in it. `tid` must be the directory in `iss`. The keys
 * are those of all directories: list in the option `issuer` those that you serve. Microsoft identity platform:
 * "Access token claims reference", "Secure applications and APIs by validating claims".
 */
export function entraId({ roles }: EntraIdOptions = {}): MapClaims {
  const grants = granting('role', roles)
  return (claims) => {
    const directory = tenantIn(claims, 'tid')
    const issuer = own(claims, 'iss')
    if (!GUID.test(directory)) throw malformed('tid')
    if (typeof issuer !== 'string' || !issuer.split('/').includes(directory)) throw malformed('iss')
    return userInfo(claims, [[directory, listIn(claims, 'roles').flatMap(grants)]])
  }
}

export interface CognitoOptions {
  /**
   * The app clients whose tokens are accepted. Access tokens of Cognito have no `aud` for the option `audience` to
   * check; only their `client_id` says for whom they are.
   */
  readonly clientId: string | readonly string[]
  /** Which tokens are accepted. @default 'access' */
  readonly tokenUse?: 'access' | 'id'
  /**
   * The claim that names the user's one tenant, such as `custom:tenant`; groups are then granted in it, and without
   * it nothing is. No app client may have write access to that attribute. Not given: tenants are in the groups' names.
   */
  readonly tenantClaim?: string
  /** What groups grant. Not given: `group:<name>`. */
  readonly groups?: Grants
}

/**
 * Amazon Cognito user pools. Cognito knows no tenants: a group `<tenant>/<name>` in `cognito:groups` lets the user
 * act for that tenant and grants there what `<name>` does; a group without a slash belongs to the whole pool, and is
 * granted under `*`. `username` serves as `preferred_username` where there is none. Amazon Cognito Developer Guide:
 * "Understanding the access token", "Understanding the identity (ID) token", "Verifying JSON web tokens".
 */
export function cognito(options: CognitoOptions): MapClaims {
  const { clientId, tokenUse = 'access', tenantClaim } = options
  const clients = typeof clientId === 'string' ? [clientId] : [...clientId]
  const grants = granting('group', options.groups)
  return (claims) => {
    if (own(claims, 'token_use') !== tokenUse) throw malformed('token_use')
    const client = own(claims, tokenUse === 'access' ? 'client_id' : 'aud')
    if (typeof client !== 'string' || !clients.includes(client)) throw malformed('client_id')
    const username = own(claims, tokenUse === 'access' ? 'username' : 'cognito:username')
    const named = username === undefined ? claims : { preferred_username: username, ...claims }
    const groups = listIn(claims, 'cognito:groups')
    if (tenantClaim === undefined) {
      return userInfo(
        named,
        groups.flatMap((group) => rightsOfGroup(group, grants)),
      )
    }
    if (own(claims, tenantClaim) === undefined) return userInfo(named, [])
    return userInfo(named, [[tenantIn(claims, tenantClaim), groups.flatMap(grants)]])
  }
}

/**
 * SeaCat Auth. Its claim `resources` has the shape of user info: from tenant, or `*`, to resource ids. This only
 * leaves out what is no resource id. The claim `tenants`, a list of memberships, authorizes nothing and is not
 * looked at. SeaCat Auth documentation: "Resources", "Tenants".
 */
export const seacatAuth: MapClaims = (claims) => {
  const granted = objectIn(claims, 'resources')
  const rights = Object.keys(granted).map((key): Right => [key, listIn(granted, key).filter(isId)])
  return userInfo(claims, rights)
}

/** What is granted in one tenant, or under `*` in each. */
type Right = readonly [tenant: string, ids: readonly string[]]

const EVERY_TENANT = '*'

/** As everywhere in this package: the characters of a scope token (RFC 6749 §3.3), and a colon with something on each side. */
const RESOURCE_ID = /^[!#-9;-[\]-~]+:[!#-[\]-~]+$/

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function userInfo(claims: Readonly<Record<string, unknown>>, rights: readonly Right[]): UserInfo {
  const sub = own(claims, 'sub')
  const name = own(claims, 'preferred_username')
  if (typeof sub !== 'string') throw malformed('sub')
  if (name !== undefined && typeof name !== 'string') throw malformed('preferred_username')
  const byTenant = new Map<string, Set<string>>()
  for (const [tenant, ids] of rights) {
    const held = byTenant.get(tenant) ?? new Set()
    byTenant.set(tenant, held)
    for (const id of ids) held.add(id)
  }
  // Not by assignment: a tenant may be called `__proto__`.
  const resources = Object.fromEntries([...byTenant].map(([tenant, ids]) => [tenant, [...ids]]))
  return { ...claims, sub, ...(name !== undefined && { preferred_username: name }), resources }
}

/** From a role's or a group's name to the ids that it grants. Throws for a table that could not have been meant. */
function granting(kind: string, grants: Grants | undefined): (name: string) => readonly string[] {
  if (grants === undefined) return (name) => [`${kind}:${name}`].filter(isId)
  if (grants === 'verbatim') return (name) => [name].filter(isId)
  const table = new Map(Object.entries(grants))
  for (const [name, ids] of table) {
    if (Array.isArray(ids) && ids.every(isId)) continue
    throw new TypeError(`what ${kind} ${name} grants is no list of resource ids <name>:<action>`)
  }
  return (name) => table.get(name) ?? []
}

/** Keycloak's three shapes: an alias, a list of aliases, an object from alias to what else is known of it. */
function organizationsOf(claim: unknown): (readonly [alias: string, details: object])[] {
  if (claim === undefined) return []
  if (typeof claim === 'string') return [[tenantName('organization', claim), {}]]
  if (Array.isArray(claim)) {
    return claim.map((alias) => [tenantName('organization', alias), {}])
  }
  if (!isObject(claim)) throw malformed('organization')
  return Object.keys(claim).map((alias) => [
    tenantName('organization', alias),
    objectIn(claim, alias),
  ])
}

function rightsOfGroup(group: string, grants: (name: string) => readonly string[]): Right[] {
  const slash = group.indexOf('/')
  if (slash === -1) return [[EVERY_TENANT, grants(group)]]
  const tenant = group.slice(0, slash)
  const name = group.slice(slash + 1)
  // `*/cook` must not become what a cook may do everywhere.
  if (tenant === '' || tenant === EVERY_TENANT || name === '') return []
  return [[tenant, grants(name)]]
}

function own(holder: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(holder, name)?.value
}

function objectIn(holder: object, name: string): object {
  const value = own(holder, name)
  if (value === undefined) return {}
  if (!isObject(value)) throw malformed(name)
  return value
}

function listIn(holder: object, name: string): readonly string[] {
  const value = own(holder, name)
  if (value === undefined) return []
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw malformed(name)
  }
  return value
}

function tenantIn(holder: object, name: string): string {
  return tenantName(name, own(holder, name))
}

/** Never `*`: one claim of one tenant would grant its rights in all of them. */
function tenantName(claim: string, value: unknown): string {
  if (typeof value !== 'string' || value === '' || value === EVERY_TENANT) throw malformed(claim)
  return value
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && RESOURCE_ID.test(value)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function malformed(claim: string): TypeError {
  return new TypeError(`the claim ${claim} is not of the documented shape`)
}
