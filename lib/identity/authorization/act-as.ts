import {
  ERR_AUTH_CONFIG_INVALID,
  ERR_AUTH_TENANT_INVALID,
  ERR_AUTH_TENANT_SUSPENDED,
  ERR_AUTH_TENANT_UNKNOWN,
} from '../../errors.ts'
import { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { isObject, ownProperty } from '../../platform/runtime/own-property.ts'
import { NO_ACTORS } from '../jwt/registered-claims.ts'
import type { KnownTenants } from '../tenants/known-tenants.ts'
import { isTenantName } from '../tenants/tenant-name.ts'
import type { Authorization } from './authorization.ts'
import { runWithAuthorization } from './current-authorization.ts'
import { Principal } from './principal.ts'
import { isResourceId } from './resources.ts'
import type { RightsRules } from './rights.ts'

export interface ActAsRules extends RightsRules {
  readonly asyncContext: boolean
  readonly knownTenants: KnownTenants
  readonly onBegin: (authorization: Authorization) => void
}

/** There is no token, which would end or have an issuer. */
const SUBJECT = { exp: Number.POSITIVE_INFINITY, issuer: null, actors: NO_ACTORS }

export class ActAs {
  readonly #rules: ActAsRules
  /** The questions end by themselves when the service closes. */
  readonly #waits = new PendingRequests()

  constructor(rules: ActAsRules) {
    this.#rules = rules
  }

  /** Runs work as a user whose tenant is checked as that of a request is. */
  async run<T>(who: InternalUser, work: () => T | Promise<T>): Promise<T> {
    const { asyncContext, knownTenants, onBegin } = this.#rules
    if (!asyncContext) {
      throw new ERR_AUTH_CONFIG_INVALID('asyncContext: expected true for actAs(), found false')
    }
    if (typeof work !== 'function') throw new TypeError('actAs() takes a function to run')
    const user = readInternalUser(who)
    // The answer serves requests too, so the question runs under no authorization.
    const asked = runWithAuthorization(null, () => knownTenants.stateOf(user.tenant, this.#waits))
    const state = await asked
    if (state === false)
      throw new ERR_AUTH_TENANT_UNKNOWN(undefined, 'actAs(): the tenant does not exist')
    if (state === 'suspended')
      throw new ERR_AUTH_TENANT_SUSPENDED(undefined, 'actAs(): the tenant is suspended')
    const authorization = this.#authorize(user)
    onBegin(authorization)
    return runWithAuthorization(authorization, work)
  }

  #authorize({ sub, tenant, resources }: InternalUser): Authorization {
    const held = Object.freeze(Object.fromEntries([[tenant, resources]]))
    const userInfo = Object.freeze({ sub, resources: held })
    return Principal.of(userInfo, SUBJECT, this.#rules).in(tenant)
  }
}

/** As whom work without a request runs. */
export interface InternalUser {
  /** The name of the work, such as `job:invoices`. Not empty; choose one that is no user's `sub`. */
  readonly sub: string
  /** The one tenant that the work is for, by its name. */
  readonly tenant: string
  /** The resource ids `<name>:<action>` that it holds in that tenant; the list may be empty. */
  readonly resources: readonly string[]
}

const MEMBERS: readonly unknown[] = ['sub', 'tenant', 'resources']

/**
 * The user as an application wants it: a copy, by own properties only. A missing member must not
 * mean less than it seems to, and a misspelt one must not be left out.
 *
 * @throws TypeError
 * @throws ERR_AUTH_TENANT_INVALID (400)
 */
export function readInternalUser(who: unknown): InternalUser {
  if (!isObject(who)) throw new TypeError('actAs() takes an object with sub, tenant and resources')
  if (!Reflect.ownKeys(who).every((name) => MEMBERS.includes(name))) {
    throw new TypeError('actAs() takes sub, tenant and resources, and no other member')
  }
  const sub = ownProperty(who, 'sub')
  if (typeof sub !== 'string' || sub === '') {
    throw new TypeError('actAs() takes a sub that is a string, and not empty')
  }
  const resources = readIds(ownProperty(who, 'resources'))
  const tenant = ownProperty(who, 'tenant')
  if (!isTenantName(tenant)) {
    throw new ERR_AUTH_TENANT_INVALID(undefined, 'actAs(): tenant is not the name of a tenant')
  }
  return { sub, tenant, resources }
}

function readIds(value: unknown): readonly string[] {
  // A copy turns holes into `undefined`, which `every` checks.
  const ids: readonly unknown[] = Array.isArray(value) ? [...value] : [undefined]
  if (ids.every(isResourceId)) return Object.freeze(ids)
  throw new TypeError('actAs() takes resources, a list of ids <name>:<action>')
}
