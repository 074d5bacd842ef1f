import 'reflect-metadata'
import { createParamDecorator, type ExecutionContext } from '@nestjs/common'
import type { FastifyRequest } from 'fastify'
import { keycloak } from '../../lib/entrypoints/claims/index.ts'
import type { AuthOptions } from '../../lib/index.ts'
import { Declare } from './nestjs.ts'

export const options: AuthOptions = {
  issuer: 'https://sso.example.com/realms/lunch',
  audience: 'menu-api',
  mapClaims: keycloak({
    rolesOf: 'realm',
    client: 'menu-api',
    clientRoles: { cook: ['menu:read', 'menu:edit'] },
    realmRoles: { staff: ['menu:read'] },
  }),
}

/** Everybody, without a token. */
export const Public = () => Declare({ noauth: true })

/** Users of the tenant in the path who hold any of these. */
export const Roles = (...ids: string[]) =>
  Declare({ tenant: 'required', require: { any: ids }, userInfo: true })

/** The verified claims. */
export const KeycloakUser = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<FastifyRequest>().userInfo,
)
