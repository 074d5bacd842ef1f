/** @module claims */

export { type Auth0Options, auth0 } from './auth0.ts'
export { type CognitoOptions, cognito } from './cognito.ts'
export { type EntraIdOptions, entraId } from './entra-id.ts'
export { type KeycloakOptions, keycloak } from './keycloak.ts'
export type { Grants, MapClaims } from './mapping.ts'
export { seacatAuth } from './seacat-auth.ts'
