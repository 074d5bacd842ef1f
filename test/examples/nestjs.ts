import 'reflect-metadata'
import { createParamDecorator, type ExecutionContext } from '@nestjs/common'
import { RouteConfig } from '@nestjs/platform-fastify'
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js'
import type { FastifyRequest } from 'fastify'
import type { RouteDeclaration, UserInfo } from '../../lib/index.ts'

/**
 * Declares what `@RouteConfig` would, together with what other decorators of the handler declare.
 *
 * @throws Error where two of them contradict each other
 */
export function Declare(declaration: RouteDeclaration): MethodDecorator {
  return (target, name, descriptor) => {
    const handler = Object(descriptor.value)
    const others: RouteDeclaration =
      Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) ?? {}
    RouteConfig(merged(others, declaration))(target, name, descriptor)
  }
}

/** What a user must hold is added up. Any other key must be the same in both. */
function merged(one: RouteDeclaration, other: RouteDeclaration): RouteDeclaration {
  const [a, b] = [one.require, other.require]
  const contradicts = Object.entries(other).some(
    ([key, value]) =>
      key !== 'require' && Object.hasOwn(one, key) && Reflect.get(one, key) !== value,
  )
  if (contradicts) throw new Error('two decorators of a handler contradict each other')
  if (!a || !b) return { ...one, ...other, ...((a || b) && { require: a || b }) }
  return { ...one, ...other, require: [...listed(a), ...listed(b)] }
}

function listed(required: NonNullable<RouteDeclaration['require']>): readonly string[] {
  if (typeof required === 'string') return [required]
  if (Array.isArray(required)) return required
  throw new Error('{ any } cannot be added to what another decorator requires')
}

/** A role of the application. */
export const CookOnly = () => Declare({ require: 'order:cook' })

const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<FastifyRequest>()

/** The tenant of the request, in a handler that declares `tenant: 'required'`. */
export const Tenant = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  const { tenant } = requestOf(context)
  if (typeof tenant !== 'string') throw new Error('@Tenant() is for handlers that have a tenant')
  return tenant
})

/** The user, in a handler that declares `userInfo: true`. */
export const User = createParamDecorator((_data: unknown, context: ExecutionContext): UserInfo => {
  const { userInfo } = requestOf(context)
  if (!userInfo) throw new Error('@User() is for handlers that declare userInfo')
  return userInfo
})
