import { isObject } from '../outside/is-object.ts'
import { ownProperty } from '../outside/own-property.ts'
import { EVERY_TENANT } from '../tenants/tenant-name.ts'

export function objectIn(holder: object, name: string): object {
  const value = ownProperty(holder, name)
  if (value === undefined) return {}
  if (!isObject(value)) throw malformed(name)
  return value
}

export function listIn(holder: object, name: string): readonly string[] {
  const value = ownProperty(holder, name)
  if (value === undefined) return []
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw malformed(name)
  }
  return value
}

export function tenantIn(holder: object, name: string): string {
  return tenantName(name, ownProperty(holder, name))
}

/** Never `*`: one claim of one tenant would grant its rights in all tenants. */
export function tenantName(claim: string, value: unknown): string {
  if (typeof value !== 'string' || value === '' || value === EVERY_TENANT) throw malformed(claim)
  return value
}

export function malformed(claim: string): TypeError {
  return new TypeError(`the claim ${claim} is not of the documented shape`)
}
