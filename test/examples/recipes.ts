import {
  auth0,
  cognito,
  entraId,
  keycloak,
  seacatAuth,
} from '../../lib/entrypoints/claims/index.ts'
import type { AuthOptions } from '../../lib/index.ts'

const grants = new Map([['cook', ['menu:read', 'menu:edit']]])

const forKeycloak: AuthOptions = {
  publicKeysUrl: 'https://sso.example.com/realms/lunch/protocol/openid-connect/certs',
  issuer: 'https://sso.example.com/realms/lunch',
  audience: 'menu-api',
  mapClaims: keycloak({
    rolesOf: 'realm',
    client: 'menu-api',
    clientRoles: { cook: ['menu:read', 'menu:edit'] },
  }),
}

/** A user's groups are `/lazy-raccoon` and `/lazy-raccoon/cook`: a tenant, and a role in it. */
const forKeycloakGroups: AuthOptions = {
  issuer: 'https://sso.example.com/realms/lunch',
  audience: 'menu-api',
  mapClaims: ({ groups = [], ...claims }) => {
    const { sub, typ } = claims
    // An ID token is no access token. One that is bound has the type DPoP.
    if (typ !== 'Bearer' && typ !== 'DPoP') throw new Error('another token')
    if (typeof sub !== 'string') throw new Error('another token')
    if (!Array.isArray(groups)) throw new Error('another token')
    const resources = new Map<string, readonly string[]>()
    for (const group of groups) {
      const [, tenant, role = ''] = String(group).split('/')
      // `*` would be all tenants.
      if (!tenant || tenant === '*') continue
      resources.set(tenant, [...(resources.get(tenant) ?? []), ...(grants.get(role) ?? [])])
    }
    return { ...claims, sub, resources: Object.fromEntries(resources) }
  },
}

const forAuth0: AuthOptions = {
  publicKeysUrl: 'https://lunch.eu.auth0.com/.well-known/jwks.json',
  issuer: 'https://lunch.eu.auth0.com/', // with the slash
  audience: 'https://menu.example.com/api',
  mapClaims: auth0(),
}

const forEntraId: AuthOptions = {
  publicKeysUrl: 'https://login.microsoftonline.com/organizations/discovery/v2.0/keys',
  // The directories that you serve, each with its id.
  issuer: ['https://login.microsoftonline.com/aaaabbbb-0000-cccc-1111-dddd2222eeee/v2.0'],
  audience: '00001111-aaaa-2222-bbbb-3333cccc4444',
  mapClaims: entraId({ roles: { 'Menu.Read': ['menu:read'] } }),
}

const forCognito: AuthOptions = {
  publicKeysUrl:
    'https://cognito-idp.us-west-2.amazonaws.com/us-west-2_example/.well-known/jwks.json',
  issuer: 'https://cognito-idp.us-west-2.amazonaws.com/us-west-2_example',
  // In place of `audience`, which Cognito's access tokens lack.
  mapClaims: cognito({
    clientId: '57cbishk4j24pabc1234567890',
    groups: { cook: ['menu:read', 'menu:edit'] },
  }),
}

const forSeacatAuth: AuthOptions = {
  publicKeysUrl: 'https://auth.example.com/openidconnect/public_keys',
  issuer: 'https://auth.example.com',
  audience: 'menu-app',
  mapClaims: seacatAuth,
}

/** One claim of the token names the tenant, and another one the roles in it. */
const forAnotherServer: AuthOptions = {
  issuer: 'https://login.example.com',
  audience: 'menu-api',
  mapClaims: ({ org_id: tenant, roles = [], ...claims }) => {
    const { sub } = claims
    if (typeof sub !== 'string') throw new Error('another token')
    // `*` would be all tenants.
    if (typeof tenant !== 'string' || tenant === '*') throw new Error('another token')
    if (!Array.isArray(roles)) throw new Error('another token')
    const ids = roles.flatMap((role) => grants.get(role) ?? [])
    return { ...claims, sub, resources: { [tenant]: ids } }
  },
}

export {
  forAnotherServer,
  forAuth0,
  forCognito,
  forEntraId,
  forKeycloak,
  forKeycloakGroups,
  forSeacatAuth,
}
