import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { decodeJwt } from 'jose'
import { isObject } from '../outside/is-object.ts'
import { ownProperty } from '../outside/own-property.ts'
import type { AskedPersona } from './asked-personas.ts'
import type { PersonaUser, ProbeOptions } from './probe-options.ts'
import type { ProbedGuard } from './probed-guard.ts'
import type { TestAuthority } from './test-authority.ts'

/** Makes the tokens of those whom a probe asks as. Many routes ask as the same user. */
export class PersonaTokens {
  readonly #authority: TestAuthority
  readonly #guard: ProbedGuard
  readonly #claims: NonNullable<ProbeOptions['claims']>
  readonly #grant: ProbeOptions['grant']
  readonly #tokens = new Map<string, Promise<string>>()

  constructor(authority: TestAuthority, guard: ProbedGuard, { claims, grant }: ProbeOptions) {
    this.#authority = authority
    this.#guard = guard
    this.#claims = claims ?? (({ sub, resources }) => ({ sub, resources }))
    this.#grant = grant
  }

  /**
   * The header with the token; none for a stranger.
   *
   * @throws Error if `mapClaims` makes another user of the token, or `resourcesOf` does not tell
   * what was granted
   */
  async headersOf({ resources, isExpired }: AskedPersona): Promise<Record<string, string>> {
    if (resources === null) return {}
    const key = JSON.stringify([isExpired, resources])
    const making = this.#tokens.get(key) ?? this.#make(resources, isExpired)
    this.#tokens.set(key, making)
    return { authorization: `Bearer ${await making}` }
  }

  async #make(resources: PersonaUser['resources'], isExpired: boolean): Promise<string> {
    const { clockTolerance, resourcesOf } = this.#guard.loaded.settings
    const expiresIn = isExpired ? -60 - clockTolerance : 300
    // What an application tells of a user is kept for a while, so that each has to be another one.
    const sub = this.#grant === undefined ? 'probe' : randomUUID()
    const token = await this.#authority.token(this.#claims({ sub, resources }), { expiresIn })
    if (resourcesOf === undefined && !isDeepStrictEqual(this.#rightsIn(token), rights(resources))) {
      throw new Error(
        'probe: mapClaims makes another user of the claims; give them: probe(app, authority, { claims })',
      )
    }
    const own = await this.#granted(token, resources)
    // A token that the application has made is good, and so it is none that has expired.
    return own === undefined || isExpired ? token : own
  }

  /** @returns the token that the application has made for the user, if it has */
  async #granted(token: string, resources: PersonaUser['resources']): Promise<string | undefined> {
    if (this.#grant === undefined) return undefined
    const { iss: issuer = '', sub = '' } = decodeJwt(token)
    const own = await this.#grant({ issuer, sub, resources })
    if (typeof own === 'string') return own
    const { resourcesOf } = this.#guard.loaded.settings
    const told: unknown = await resourcesOf?.({ issuer, sub })
    if (resourcesOf !== undefined && !tells(told, resources)) {
      throw new Error('probe: resourcesOf does not tell what grant was given')
    }
    return undefined
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

/**
 * Whether an answer of `resourcesOf` has what was granted in tenants. An application need not know
 * what is held in all of them.
 */
function tells(told: unknown, granted: PersonaUser['resources']): boolean {
  return Object.entries(granted).every(([tenant, ids]) => {
    if (tenant === '*') return true
    const held: unknown = isObject(told) ? ownProperty(told, tenant) : undefined
    return Array.isArray(held) && ids.every((id) => held.includes(id))
  })
}

/** An empty list under `*` says nothing. Under a tenant it makes a member. */
function rights(resources: object): unknown {
  const said = Object.entries(resources).filter(([tenant, ids]) => tenant !== '*' || ids.length > 0)
  return Object.fromEntries(said)
}
