/**
 * Claims in the shapes that the authorization servers document, without the times. `iss` and `aud`
 * are the servers' own. So the tests of recipes run without the options `issuer` and `audience`.
 */

/** Keycloak, Server Administration Guide, "Mapping organization claims". */
export const keycloakToken = {
  jti: 'onrtac:7d2a4f5e-6f3c-4f0a-9d32-2f0a4f6d3a11',
  iss: 'https://sso.test/realms/lunch',
  aud: ['menu-api', 'account'],
  sub: '6f3c4f0a-9d32-4f6d-8a11-7d2a4f5e2f0a',
  typ: 'Bearer',
  azp: 'menu-web',
  sid: '0d0f4c52-96b1-4a5c-8e3f-6a3f1c9a4b7e',
  acr: '1',
  'allowed-origins': ['https://menu.test'],
  realm_access: { roles: ['offline_access', 'staff'] },
  resource_access: {
    'menu-api': { roles: ['cook'] },
    account: { roles: ['manage-account', 'view-profile'] },
  },
  scope: 'openid profile organization',
  organization: { 'lazy-raccoon': { id: '42c3e46f-2477-44d7-a85b-d3b43f6b31fa' } },
  preferred_username: 'little-capybara',
}

/** Auth0 Docs, "Work with Tokens and Organizations", with RBAC. */
export const auth0Token = {
  iss: 'https://lunch.eu.auth0.test/',
  sub: 'auth0|602c0dcab993d10073daf680',
  aud: ['https://menu.test/api', 'https://lunch.eu.auth0.test/userinfo'],
  azp: 'ENDmmAJsbwI1hOG1KPJddQ8LHjV6kLkV',
  scope: 'openid profile read:menu',
  org_id: 'org_9ybsU1dN2dKfDkBi',
  permissions: ['read:menu', 'edit:menu'],
}

/** Microsoft identity platform, "Access token claims reference", version 2.0. */
export const entraIdToken = {
  aud: '00001111-aaaa-2222-bbbb-3333cccc4444',
  iss: 'https://login.microsoftonline.com/aaaabbbb-0000-cccc-1111-dddd2222eeee/v2.0',
  azp: '11112222-bbbb-3333-cccc-4444dddd5555',
  azpacr: '0',
  name: 'Little Capybara',
  oid: 'aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb',
  preferred_username: 'capybara@lunch.test',
  roles: ['Menu.Read', 'menu:edit'],
  scp: 'access_as_user',
  sub: 'HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ',
  tid: 'aaaabbbb-0000-cccc-1111-dddd2222eeee',
  ver: '2.0',
}

/** Amazon Cognito Developer Guide, "Understanding the access token". */
export const cognitoAccessToken = {
  sub: 'aaaaaaaa-bbbb-cccc-dddd-example',
  'cognito:groups': ['lazy-raccoon/cook', 'busy-beaver/guest', 'auditors'],
  iss: 'https://cognito-idp.us-west-2.amazonaws.test/us-west-2_example',
  version: 2,
  client_id: '57cbishk4j24pabc1234567890',
  origin_jti: 'aaaaaaaa-bbbb-cccc-dddd-example',
  event_id: 'aaaaaaaa-bbbb-cccc-dddd-example',
  token_use: 'access',
  scope: 'openid',
  jti: 'aaaaaaaa-bbbb-cccc-dddd-example',
  username: 'little-capybara',
}

/** Amazon Cognito Developer Guide, "Understanding the identity (ID) token". */
export const cognitoIdToken = {
  sub: 'aaaaaaaa-bbbb-cccc-dddd-example',
  'cognito:groups': ['cook', 'auditors'],
  'cognito:username': 'little-capybara',
  'custom:tenant': 'lazy-raccoon',
  email_verified: true,
  iss: 'https://cognito-idp.us-west-2.amazonaws.test/us-west-2_example',
  origin_jti: 'aaaaaaaa-bbbb-cccc-dddd-example',
  aud: '57cbishk4j24pabc1234567890',
  token_use: 'id',
}

/** SeaCat Auth, an ID token as its own services read it. */
export const seacatToken = {
  iss: 'https://auth.test',
  azp: 'menu-app',
  aud: 'menu-app',
  sub: 'mongodb:default:799b53e0',
  preferred_username: 'little-capybara',
  email: 'capybara@lunch.test',
  resources: { '*': ['seacat:access'], 'lazy-raccoon': ['menu:read', 'menu:edit'] },
  tenants: ['lazy-raccoon', 'busy-beaver'],
}
