import type { TestUserInfo } from './test-authority.ts'

/** Who a probe asks as, where the policy of a route refuses that persona. */
const PERSONAS = ['stranger', 'expired', 'foreigner', 'without'] as const

export type Persona = (typeof PERSONAS)[number]

/** A user that a probe asks as. */
export interface PersonaUser {
  readonly sub: string
  readonly resources: Readonly<Record<string, readonly string[]>>
}

/** A user that an application is to know. */
export interface GrantedUser extends PersonaUser {
  /** The `iss` of its token. */
  readonly issuer: string
}

export const PROBE_OPTIONS = ['tenant', 'headers', 'claims', 'grant', 'foreign', 'params'] as const

export interface ProbeOptions {
  /**
   * A tenant that exists, and that the authority may speak for. Required where `tenants` is
   * configured.
   * @default a name that fits the path
   */
  readonly tenant?: string
  /**
   * Further headers of each request, such as the one that `resolveTenant` or a constraint of routes
   * reads. Required where `resolveTenant` is configured.
   *
   * @param tenant the tenant that the request is for
   */
  readonly headers?: (tenant: string) => Readonly<Record<string, string>>
  /**
   * The claims by which the authorization server would say what this user is. Required where
   * `mapClaims` reads others than `sub` and `resources`.
   */
  readonly claims?: (user: PersonaUser) => TestUserInfo
  /**
   * Writes what a user holds where the application looks for it, such as a table of a test's
   * database. Required where `resourcesOf` or `opaqueToken` is configured. No user comes twice.
   *
   * @returns the token to ask with, where it is not one of the authority; otherwise nothing
   */
  readonly grant?: (user: GrantedUser) => unknown
  /**
   * The tenant that is not the one which is asked for, and in which users hold what they should not
   * need. Give one that exists where `grant` writes into a database that must know it.
   *
   * @default 'elsewhere'
   */
  readonly foreign?: string
  /**
   * Values of path parameters by their names, for those that cannot be filled from the schema of
   * the route. That of a wildcard is called `*`.
   */
  readonly params?: Readonly<Record<string, string>>
}
