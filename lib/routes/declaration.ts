import { inspect } from 'node:util'
import type { Requirement } from '../identity/authorization/principal.ts'
import { isResourceId } from '../identity/authorization/resources.ts'
import { declaredBeside, type FLAGS, hiddenDeclarations, meantKey } from './declaration-keys.ts'

/** The declaration of a route, in its `config`. `false` and `undefined` mean not declared. */
export interface RouteDeclaration {
  /**
   * `true`: no authentication, and the request carries nothing. Excludes every other key.
   * @default false
   */
  noauth?: boolean | undefined
  /**
   * `true`: `request.tenant` is the tenant of the path's segment, or, without a segment, of
   * `?tenant=`. `'required'`: the same, and never null. `'optional'`: without a segment only; null
   * if the query names none.
   * @default false
   */
  tenant?: boolean | 'required' | 'optional' | undefined
  /** `true`: `request.userInfo` is who the request acts as. @default false */
  userInfo?: boolean | undefined
  /** `true`: `request.resources` are the user's in the request's tenant. @default false */
  resources?: boolean | undefined
  /**
   * `true`: `request.authorization` is all of it, with methods that check and that refuse.
   * @default false
   */
  authorization?: boolean | undefined
  /**
   * Resource ids, each `<name>:<action>`, that the user must hold: the one, all, or any. 403
   * otherwise.
   */
  require?: string | readonly string[] | { readonly any: readonly string[] } | false | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig extends RouteDeclaration {}
}

/** A declaration as the guard understands it. */
export interface Declared {
  readonly noauth: boolean
  readonly tenant: boolean | 'required' | 'optional'
  readonly userInfo: boolean
  readonly resources: boolean
  readonly authorization: boolean
  readonly requirement: Requirement | null
}

const TENANT_VALUES: readonly unknown[] = [true, false, undefined, 'required', 'optional']

/**
 * A requirement that no user meets, not even a superuser. An unreadable requirement becomes this
 * one.
 */
export const NEVER_MET: Requirement = Object.freeze({
  mode: 'any',
  ids: Object.freeze([]),
})

/**
 * Reads a route's `config`, by own properties only. Mistakes are listed in `problems`; a wrong
 * value counts as the strictest one.
 *
 * @param hidden the declarations that the config has lost, or is about to lose
 */
export function readDeclaration(
  config: object,
  hidden = hiddenDeclarations(config),
): {
  declared: Declared
  problems: string[]
} {
  const values = new Map<string, unknown>(Object.entries(config))
  const problems: string[] = []
  let isLost = hidden.has('require')
  for (const key of new Set([...values.keys(), ...hidden.keys()])) {
    const meant = meantKey(key)
    // A slip declares nothing, so the route would stay open to those that it was to exclude.
    if (meant !== undefined && values.has(key)) problems.push(`${key} looks like ${meant}`)
    if (meant === 'require') isLost = true
  }
  for (const [key, why] of hidden) problems.push(`${key} is ${why}`)
  const guarded = {
    tenant: readTenantKey(values.get('tenant'), problems),
    ...readFlags(values, problems),
    requirement: isLost ? NEVER_MET : readRequirement(values.get('require'), problems),
  }
  const noauth = readNoauth(values, problems)
  // This comes last, because a mistake in another key keeps the route closed.
  const declared = { ...guarded, noauth: noauth && problems.length === 0 }
  return { declared: Object.freeze(declared), problems }
}

function readNoauth(values: ReadonlyMap<string, unknown>, problems: string[]): boolean {
  const noauth = values.get('noauth')
  if (noauth !== undefined && typeof noauth !== 'boolean') {
    problems.push(`noauth is no boolean, found ${show(noauth)}`)
  }
  if (noauth !== true) return false
  const others = declaredBeside(values)
  if (others.length > 0) problems.push(`noauth contradicts ${others.join(', ')}`)
  return true
}

function readTenantKey(value: unknown, problems: string[]): Declared['tenant'] {
  if (!TENANT_VALUES.includes(value)) {
    problems.push(`tenant is not true, 'required' or 'optional', found ${show(value)}`)
  }
  if (value === undefined || value === false) return false
  return value === 'required' || value === 'optional' ? value : true
}

function readFlags(values: ReadonlyMap<string, unknown>, problems: string[]) {
  const flag = (name: (typeof FLAGS)[number]): boolean => {
    const value = values.get(name)
    if (value !== undefined && typeof value !== 'boolean') {
      problems.push(`${name} is no boolean, found ${show(value)}`)
    }
    return value === true
  }
  return {
    userInfo: flag('userInfo'),
    resources: flag('resources'),
    authorization: flag('authorization'),
  }
}

function readRequirement(value: unknown, problems: string[]): Requirement | null {
  if (value === undefined || value === false) return null
  const mode = isAnyOf(value) ? 'any' : 'all'
  const listed = isAnyOf(value) ? value.any : value
  const ids: unknown[] = Array.isArray(listed) ? [...listed] : mode === 'all' ? [listed] : []
  if (ids.length > 0 && ids.every(isResourceId)) {
    return Object.freeze({ mode, ids: Object.freeze(ids) })
  }
  problems.push(`require is empty, or not made of ids <name>:<action>, found ${show(value)}`)
  return NEVER_MET
}

function isAnyOf(value: unknown): value is { any: unknown } {
  return typeof value === 'object' && value !== null && Object.keys(value).join() === 'any'
}

/** Most characters of a value that a message shows. */
const MOST_SHOWN = 80

function show(value: unknown): string {
  return inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY }).slice(0, MOST_SHOWN)
}
