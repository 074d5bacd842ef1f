import type { TestUserInfo } from './test-authority.ts'

/** Who a probe asks as, where the policy of a route refuses that persona. */
const PERSONAS = ['stranger', 'expired', 'foreigner', 'without'] as const

export type Persona = (typeof PERSONAS)[number]

/** A user that a probe asks as. */
export interface PersonaUser {
  readonly sub: string
  readonly resources: Readonly<Record<string, readonly string[]>>
}

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
}
