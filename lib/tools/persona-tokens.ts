import { isDeepStrictEqual } from 'node:util'
import { decodeJwt } from 'jose'
import type { AskedPersona } from './asked-personas.ts'
import type { PersonaUser, ProbeOptions } from './probe-options.ts'
import type { ProbedGuard } from './probed-guard.ts'
import type { TestAuthority } from './test-authority.ts'

/** Makes the tokens of those whom a probe asks as. Many routes ask as the same user. */
export class PersonaTokens {
  readonly #authority: TestAuthority
  readonly #guard: ProbedGuard
  readonly #claims: NonNullable<ProbeOptions['claims']>
  readonly #tokens = new Map<string, Promise<string>>()

  constructor(authority: TestAuthority, guard: ProbedGuard, { claims }: ProbeOptions) {
    this.#authority = authority
    this.#guard = guard
    this.#claims = claims ?? (({ sub, resources }) => ({ sub, resources }))
  }

  /**
   * The header with the token; none for a stranger.
   *
   * @throws Error if `mapClaims` makes another user of the token
   */
  async headersOf({ resources, isExpired }: AskedPersona): Promise<Record<string, string>> {
    if (resources === null) return {}
    const key = JSON.stringify([isExpired, resources])
    const making = this.#tokens.get(key) ?? this.#make({ sub: 'probe', resources }, isExpired)
    this.#tokens.set(key, making)
    return { authorization: `Bearer ${await making}` }
  }

  async #make(user: PersonaUser, isExpired: boolean): Promise<string> {
    const expiresIn = isExpired ? -60 - this.#guard.loaded.settings.clockTolerance : 300
    const token = await this.#authority.token(this.#claims(user), { expiresIn })
    if (!isDeepStrictEqual(this.#rightsIn(token), rights(user.resources))) {
      throw new Error(
        'probe: mapClaims makes another user of the claims; give them: probe(app, authority, { claims })',
      )
    }
    return token
  }

  #rightsIn(token: string): unknown {
    const { mapClaims } = this.#guard.issuer
    const claims = decodeJwt(token)
    try {
      return rights(Object((mapClaims?.(claims) ?? claims)['resources']))
    } catch {
      return undefined
    }
  }
}

/** An empty list under `*` says nothing. Under a tenant it makes a member. */
function rights(resources: object): unknown {
  const said = Object.entries(resources).filter(([tenant, ids]) => tenant !== '*' || ids.length > 0)
  return Object.fromEntries(said)
}
