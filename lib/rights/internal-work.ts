import { ERR_AUTH_CONFIG_INVALID, ERR_AUTH_TENANT_UNKNOWN } from '../errors.ts'
import { Waits } from '../outside/waits.ts'
import type { KnownTenants } from '../tenants/known-tenants.ts'
import type { Authorization } from './authorization.ts'
import { runWithAuthorization } from './current-authorization.ts'
import { type InternalUser, readInternalUser } from './internal-user.ts'
import { Principal } from './principal.ts'
import type { RightsRules } from './rights.ts'

export interface InternalWorkRules extends RightsRules {
  readonly asyncContext: boolean
  readonly knownTenants: KnownTenants
  /** Told of each work before it begins. */
  readonly onBegin: (authorization: Authorization) => void
}

/** As in dev mode: there is no token, which would end, and by whose word it would be. */
const VOUCHED = { exp: Number.POSITIVE_INFINITY, issuer: null, actor: null }

/** Work of the application that no request asks for, such as a job of a queue. */
export class InternalWork {
  readonly #rules: InternalWorkRules
  /** The questions end by themselves when the service closes. */
  readonly #waits = new Waits()

  constructor(rules: InternalWorkRules) {
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
    // The answer is that of requests too, which may wait for it.
    const exists = runWithAuthorization(null, () => knownTenants.has(user.tenant, this.#waits))
    if (!(await exists)) throw new ERR_AUTH_TENANT_UNKNOWN()
    const authorization = this.#authorize(user)
    onBegin(authorization)
    return runWithAuthorization(authorization, work)
  }

  #authorize({ sub, tenant, resources }: InternalUser): Authorization {
    const held = Object.freeze(Object.fromEntries([[tenant, resources]]))
    const userInfo = Object.freeze({ sub, resources: held })
    return Principal.of(userInfo, VOUCHED, this.#rules).in(tenant)
  }
}
