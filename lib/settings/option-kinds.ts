import { FormatRegistry, type Static, type TSchema, Type } from '@sinclair/typebox'
import { isResourceId } from '../rights/resource-id.ts'
import { isTenantName } from '../tenants/tenant-name.ts'
import { isResourceAddress } from './resource-address.ts'

// Formats live in a registry that an application may share with us, so their names are ours alone.
export const HTTP_URL = 'fastify-tenant-auth/http-url'
export const RESOURCE_ADDRESS = 'fastify-tenant-auth/resource-address'
export const RESOURCE_ID = 'fastify-tenant-auth/resource-id'
export const TENANT_NAME = 'fastify-tenant-auth/tenant-name'
FormatRegistry.Set(HTTP_URL, isHttpUrl)
FormatRegistry.Set(RESOURCE_ADDRESS, isResourceAddress)
FormatRegistry.Set(RESOURCE_ID, isResourceId)
FormatRegistry.Set(TENANT_NAME, isTenantName)

export const Seconds = (fallback: number) =>
  Type.Number({
    default: fallback,
    minimum: 0,
    // Above this a timer would fire at once.
    maximum: 2_147_483,
    expected: 'seconds from 0 to 2147483',
  })

export const Size = (fallback: number) =>
  Type.Integer({
    default: fallback,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    expected: 'a whole number from 0',
  })

export const Switch = (fallback: boolean) =>
  Type.Boolean({
    default: fallback,
    expected: 'a boolean (in the INI file yes or no)',
  })

export const Text = (expected: string, options: object = {}) =>
  Type.String({ minLength: 1, expected, ...options })

export const List = <T extends TSchema>(item: T) =>
  Type.Unsafe<readonly Static<T>[]>(Type.Array(item, { minItems: 1 }))

export const TextOrList = (expected: string) =>
  Type.Union([Type.String({ minLength: 1 }), List(Type.String({ minLength: 1 }))], { expected })

export const Callable = <T>() =>
  Type.Unsafe<T>(Type.Function([], Type.Unknown(), { expected: 'a function' }))

function isHttpUrl(value: string): boolean {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return false
  const { username, password } = new URL(value)
  return username === '' && password === ''
}
