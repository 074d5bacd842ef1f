import { AuthService } from 'fastify-tenant-auth'
import * as recipes from 'fastify-tenant-auth/claims'
import { expectType, expectTypes } from './expect-type.ts'

const { auth0, cognito, entraId, keycloak, seacatAuth } = recipes

// Prevents that a recipe is removed unnoticed.
expectTypes<keyof typeof recipes, 'auth0' | 'cognito' | 'entraId' | 'keycloak' | 'seacatAuth'>()

// Prevents a recipe that does not fit the option.
new AuthService({ mapClaims: auth0() })
new AuthService({ mapClaims: auth0({ tenant: 'org_name' }) })
new AuthService({ mapClaims: cognito({ clientId: 'orders', groups: 'verbatim' }) })
new AuthService({ mapClaims: entraId({ roles: { Chef: ['menu:write'] } }) })
new AuthService({ mapClaims: keycloak({ rolesOf: 'organization' }) })
new AuthService({ mapClaims: seacatAuth })
expectType(auth0()).is<recipes.MapClaims>()

// @ts-expect-error this recipe needs an option
new AuthService({ mapClaims: keycloak })
// @ts-expect-error the application must say whose roles count
keycloak({})
// @ts-expect-error and there are two answers
keycloak({ rolesOf: 'group' })
// @ts-expect-error without the client's id, tokens of any application would do
cognito({ groups: 'verbatim' })
// @ts-expect-error a name may move to another organization, and other claims are not documented
auth0({ tenant: 'organization' })
// @ts-expect-error what a role grants are resource ids, in a list
entraId({ roles: { Chef: 'menu:write' } })
// @ts-expect-error a misspelt option
entraId({ role: 'verbatim' })
