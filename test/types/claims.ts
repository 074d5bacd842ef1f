import { AuthService } from 'fastify-tenant-auth'
import * as recipes from 'fastify-tenant-auth/claims'
import { expectType, expectTypes } from './expect-type.ts'

const { auth0, cognito, entraId, keycloak, seacatAuth } = recipes

// Prevents a recipe that is taken away unnoticed.
expectTypes<keyof typeof recipes, 'auth0' | 'cognito' | 'entraId' | 'keycloak' | 'seacatAuth'>()

// Prevents a recipe that fits no option.
new AuthService({ mapClaims: auth0() })
new AuthService({ mapClaims: auth0({ tenant: 'org_name' }) })
new AuthService({ mapClaims: cognito({ clientId: 'orders', groups: 'verbatim' }) })
new AuthService({ mapClaims: entraId({ roles: { Chef: ['menu:write'] } }) })
new AuthService({ mapClaims: keycloak({ rolesOf: 'organization' }) })
new AuthService({ mapClaims: seacatAuth })
expectType(auth0()).is<recipes.MapClaims>()

// @ts-expect-error a recipe that must be told something first
new AuthService({ mapClaims: keycloak })
// @ts-expect-error whose roles count is for the application to say
keycloak({})
// @ts-expect-error and there are two answers
keycloak({ rolesOf: 'group' })
// @ts-expect-error without the client's id, tokens of any application would do
cognito({ groups: 'verbatim' })
// @ts-expect-error a name may be given to another organization, and a claim of any other name is not the server's
auth0({ tenant: 'organization' })
// @ts-expect-error what a role grants are resource ids, in a list
entraId({ roles: { Chef: 'menu:write' } })
// @ts-expect-error a misspelt option
entraId({ role: 'verbatim' })
