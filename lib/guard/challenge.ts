import type { FastifyRequest } from 'fastify'
import type { Policy } from '../declaration/policy.ts'
import type { AuthError } from '../errors.ts'
import { ownCopy } from '../outside/own-copy.ts'
import { isResourceId } from '../rights/resource-id.ts'
import { metadataAddress } from '../settings/resource-address.ts'
import { decisionOf } from './decision.ts'

export interface ChallengeRules {
  /** The realm of the challenges. */
  readonly realm: string
  /** The API's own address. */
  readonly resource?: string | undefined
}

/** The challenge of a refusal (RFC 6750 §3); null if other credentials would not help. */
export type SpellChallenge = (request: FastifyRequest, error: AuthError) => string | null

/**
 * The scheme, the realm and the address of the metadata are made of the configuration, once. What a
 * request says of the host or of itself is no part of a challenge.
 */
export function challengesOf({ realm, resource }: ChallengeRules): SpellChallenge {
  const scheme = `Bearer realm=${quoted(realm)}`
  // RFC 9728 §5.1.
  const metadata =
    resource === undefined ? '' : `, resource_metadata=${quoted(metadataAddress(resource))}`
  return (request, { challenge, statusCode }) => {
    if (challenge === null) return null
    const { error, scope } = ownCopy(challenge)
    // Who has no good token yet is told what to ask the authorization server for.
    const isToldScope = statusCode === 401 && resource !== undefined
    const ids = isToldScope ? requiredBy(request) : scope
    const what = error === undefined ? '' : `, error="${error}"`
    return `${scheme}${what}${scopeOf(ids)}${metadata}`
  }
}

function scopeOf(required: readonly string[] = []): string {
  // An id that a handler requires may be any text, and must not break the header.
  const ids = required.filter(isResourceId)
  return ids.length === 0 ? '' : `, scope="${ids.join(' ')}"`
}

/** What the request's route requires. That any of several ids will do, a scope cannot say. */
function requiredBy(request: FastifyRequest): readonly string[] {
  const requirement = policyOf(request)?.requirement
  return requirement?.mode === 'all' ? requirement.ids : []
}

/** The policy by which a request was decided; none if the guard has not, or it is not guarded. */
function policyOf(request: FastifyRequest): Policy | undefined {
  return decisionOf(request)?.asked.policy
}

/** A quoted-string (RFC 9110 §5.6.4). */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}
