import { inspect } from 'node:util'
import type { StepUp } from '../errors.ts'
import type {
  RequireBy,
  Requirement,
  RequirementByRequest,
} from '../identity/authorization/requirement.ts'
import { isResourceId } from '../identity/authorization/resources.ts'
import { readStepUp, type StepUpDeclaration } from '../identity/authorization/step-up.ts'
import { isObject } from '../platform/runtime/own-property.ts'
import { type FLAGS, hiddenDeclarations, keysAgainstNoauth, meantKey } from './declaration-keys.ts'

/** The declaration of a route, in its `config`. `false` and `undefined` mean not declared. */
export interface RouteDeclaration {
  /**
   * `true`: no authentication, and the request carries no user. Excludes every other key but
   * `tenant`, `suspended` and `check`.
   * @default false
   */
  noauth?: boolean | undefined
  /**
   * `true`: `request.tenant` is the tenant of the path's segment, or, without a segment, of the
   * query. `'required'`: the same, and never null. `'optional'`: without a segment only; null
   * if the query names none. `false`: for no tenant, whatever the option `tenantDefault` says.
   * @default that of the option `tenantDefault`
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
   * `true`: a request without credentials, and one of a user who may not act for the tenant, is a
   * guest: `userInfo` and `authorization` are null, `resources` are empty. A token that is not
   * valid is 401. Excludes `require`, `check`, `stepUp`, `confirmation` and `late`. Without effect
   * on a route that was written before the plugin had loaded.
   * @default false
   */
  guests?: boolean | undefined
  /**
   * `true`: the route serves a suspended tenant too. Only on a route with a tenant. @default false
   */
  suspended?: boolean | undefined
  /**
   * `true`: authentication is before the body as ever, and the tenant with all that depends on it,
   * `require` and `stepUp` are decided after the validation, where `resolveTenant` may read the
   * body. Only with `resolveTenant`, on a route with a tenant and without a tenant segment.
   * @default false
   */
  late?: boolean | undefined
  /**
   * Resource ids, each `<name>:<action>`, that the user must hold: the one, all, or any. With `by`,
   * those that a synchronous function returns for the request, out of `among`. 403 otherwise.
   * `false`: none, and that is meant; see the option `undeclared`.
   */
  require?:
    | string
    | readonly string[]
    | { readonly any: readonly string[] }
    | { readonly by: RequireBy; readonly among: readonly string[] }
    | false
    | undefined
  /**
   * The names of functions of the option `checks`, all of which must hold: 403
   * ERR_AUTH_NOT_PERMITTED otherwise. They run after the validation, just before the handler.
   */
  check?: string | readonly string[] | false | undefined
  /**
   * `'require'`: a token that is not bound to its sender (RFC 9449, RFC 8705) is 401. Only where
   * the option `confirmation` is `check` or `require`.
   * @default that of the option
   */
  confirmation?: 'require' | false | undefined
  /**
   * How, and how lately, a user must have logged in, by the token's own `acr` and `auth_time` (RFC
   * 9470): any of `acr`, and `maxAge` seconds ago at most. 401 ERR_AUTH_STEP_UP_REQUIRED otherwise.
   */
  stepUp?: StepUpDeclaration | false | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig extends RouteDeclaration {}
}

/** A declaration as the guard understands it. */
export interface Declared {
  readonly noauth: boolean
  readonly tenant: boolean | 'required' | 'optional'
  /** True: it declares `tenant: false`. */
  readonly declaresNoTenant: boolean
  readonly userInfo: boolean
  readonly resources: boolean
  readonly authorization: boolean
  /** True: a request without a user is admitted. */
  readonly guests: boolean
  readonly suspended: boolean
  /** True: all but authentication is decided after the body is read and validated. */
  readonly late: boolean
  readonly requirement: Requirement | RequirementByRequest | null
  /** True: it declares `require: false`. */
  readonly declaresNoRequire: boolean
  /** The names of the checks that must hold; null: none. */
  readonly checks: readonly string[] | null
  /** True: a token that is not bound to its sender is refused. */
  readonly mustBeBound: boolean
  /** The login that is wanted; null: any. */
  readonly stepUp: StepUp | null
}

/** Keys that refuse users. A route that has lost one is closed. */
const RESTRICTING = ['require', 'check', 'confirmation', 'stepUp']

const TENANT_VALUES: readonly unknown[] = [true, false, undefined, 'required', 'optional']

/**
 * A requirement that no user meets, not even a superuser. An unreadable requirement becomes this
 * one.
 */
export const NEVER_MET: Requirement = Object.freeze({ mode: 'any', ids: Object.freeze([]) })

/**
 * Reads a route's `config`, by own properties only. Mistakes are listed in `problems`; a wrong
 * value counts as the strictest one.
 *
 * @param hidden the declarations that the config has lost, or is about to lose
 */
export function readDeclaration(
  config: object,
  hidden = hiddenDeclarations(config),
): { declared: Declared; problems: string[] } {
  const values = new Map<string, unknown>(Object.entries(config))
  const problems: string[] = []
  const lost: string[] = []
  for (const key of values.keys()) {
    const meant = meantKey(key)
    if (meant === undefined) continue
    // A slip declares nothing, so the route would stay open to those that it was to exclude.
    problems.push(`${key} looks like ${meant}`)
    lost.push(meant)
  }
  for (const [key, why] of hidden) {
    problems.push(`${key} is ${why}`)
    lost.push(meantKey(key) ?? key)
  }
  const checks = readChecks(values.get('check'), problems)
  const stepUp = readStepUpKey(values.get('stepUp'), problems)
  const isUnreadable = checks?.length === 0 || stepUp === undefined
  const isClosed = isUnreadable || lost.some((key) => RESTRICTING.includes(key))
  const flag = (name: (typeof FLAGS)[number] | 'noauth'): boolean => {
    const value = values.get(name)
    if (value !== undefined && typeof value !== 'boolean') {
      problems.push(`${name} is no boolean, found ${show(value)}`)
    }
    return value === true
  }
  const guarded = {
    tenant: readTenantKey(values.get('tenant'), problems),
    declaresNoTenant: values.get('tenant') === false,
    declaresNoRequire: values.get('require') === false,
    userInfo: flag('userInfo'),
    resources: flag('resources'),
    authorization: flag('authorization'),
    guests: flag('guests'),
    suspended: flag('suspended'),
    late: flag('late'),
    requirement: isClosed ? NEVER_MET : readRequirement(values.get('require'), problems),
    checks,
    mustBeBound: readConfirmationKey(values.get('confirmation'), problems),
    stepUp: stepUp ?? null,
  }
  if (guarded.guests) {
    const others = ['require', 'check', 'stepUp', 'confirmation', 'late'].filter(
      (key) => (values.get(key) ?? false) !== false,
    )
    if (others.length > 0) problems.push(`guests contradicts ${others.join(', ')}`)
  }
  const noauth = flag('noauth')
  const others = noauth ? keysAgainstNoauth(values) : []
  if (others.length > 0) problems.push(`noauth contradicts ${others.join(', ')}`)
  // This comes last, because a mistake in another key keeps the route closed.
  const declared = { ...guarded, noauth: noauth && problems.length === 0 }
  return { declared: Object.freeze(declared), problems }
}

function readTenantKey(value: unknown, problems: string[]): Declared['tenant'] {
  if (!TENANT_VALUES.includes(value)) {
    problems.push(`tenant is not true, 'required' or 'optional', found ${show(value)}`)
  }
  if (value === undefined || value === false) return false
  return value === 'required' || value === 'optional' ? value : true
}

/** A wrong value counts as the strictest one. */
function readConfirmationKey(value: unknown, problems: string[]): boolean {
  if (value === undefined || value === false) return false
  if (value !== 'require') problems.push(`confirmation is not 'require', found ${show(value)}`)
  return true
}

/** Undefined: it cannot be read. */
function readStepUpKey(value: unknown, problems: string[]): StepUp | null | undefined {
  if (value === undefined || value === false) return null
  const stepUp = readStepUp(value)
  if (stepUp === undefined) {
    problems.push(
      `stepUp is not { acr, maxAge } with whole seconds and characters of a scope, found ${show(value)}`,
    )
  }
  return stepUp
}

/** Empty: they cannot be read. */
function readChecks(value: unknown, problems: string[]): readonly string[] | null {
  if (value === undefined || value === false) return null
  const names: readonly unknown[] = Array.isArray(value) ? [...value] : [value]
  const isName = (name: unknown): name is string => typeof name === 'string' && name !== ''
  if (names.length > 0 && names.every(isName)) return Object.freeze(names)
  problems.push(`check is not the name of a check, or a list of names, found ${show(value)}`)
  return Object.freeze([])
}

/** @param problems gets what is wrong; then nobody meets the requirement */
export function readRequirement(value: unknown, problems: string[]): Declared['requirement'] {
  if (value === undefined || value === false) return null
  const requirement =
    readIds('all', typeof value === 'string' ? [value] : value) ?? readChoice(value)
  if (requirement !== undefined) return requirement
  problems.push(`require is empty, or not made of ids <name>:<action>, found ${show(value)}`)
  return NEVER_MET
}

/** Undefined if it is no list of ids. */
function readIds(mode: Requirement['mode'], list: unknown): Requirement | undefined {
  const ids: unknown[] = Array.isArray(list) ? [...list] : []
  if (ids.length === 0 || !ids.every(isResourceId)) return undefined
  return Object.freeze({ mode, ids: Object.freeze(ids) })
}

/** Undefined if it is neither `{ any }` nor `{ by, among }`. */
function readChoice(value: unknown): Requirement | RequirementByRequest | undefined {
  if (!isObject(value)) return undefined
  const names = Object.keys(value).sort().join()
  if (names === 'any') return readIds('any', value['any'])
  const { by, among } = value
  const all = names === 'among,by' ? readIds('all', among) : undefined
  if (typeof by !== 'function' || all === undefined) return undefined
  const choose: RequireBy = (request) => Reflect.apply(by, undefined, [request])
  return Object.freeze({ mode: 'by', by: choose, ids: all.ids })
}

/** Most characters of a value that a message shows. */
const MOST_SHOWN = 80

function show(value: unknown): string {
  return inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY }).slice(0, MOST_SHOWN)
}
