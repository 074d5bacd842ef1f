import type { FastifyRequest } from 'fastify'
import type { Challenge, StepUp } from '../errors.ts'
import { isResourceId } from '../identity/authorization/resources.ts'
import { isAcr, isMaxAge } from '../identity/authorization/step-up.ts'
import { supportedAlgorithms } from '../identity/jwks/algorithms.ts'
import { countsAsDpop } from '../identity/proofs/possession.ts'
import type { SenderProofs } from '../identity/proofs/sender-proofs.ts'
import { metadataAddress, TenantAddresses } from '../identity/tenants/tenant-addresses.ts'
import { ownCopy } from '../platform/runtime/own-property.ts'
import { authContextOf } from './context.ts'
import { requestedTenant } from './decide.ts'

export interface ChallengeRules {
  readonly realm: string
  readonly resource?: string | undefined
  /** True: each tenant has an address of its own, of which `resource` is the pattern. */
  readonly hasTenantAddresses: boolean
  readonly tenantParameter: string
  readonly senderProofs: SenderProofs
}

interface Fault {
  readonly challenge: Challenge | null
  readonly statusCode: number
}

/**
 * The challenges of a refusal (RFC 6750 §3, RFC 9449 §7.1, RFC 9470 §3), one for each scheme that
 * works; null if other credentials would not help. Scheme, realm and the address of the metadata
 * are made of the configuration, once. Nothing that a request says of the host or of itself is part
 * of a challenge.
 */
export function challengesOf(rules: ChallengeRules) {
  const { realm, resource, senderProofs } = rules
  const bearer = `Bearer realm=${quoted(realm)}`
  const dpop = `DPoP realm=${quoted(realm)}, algs="${supportedAlgorithms.join(' ')}"`
  const metadataOf = rules.hasTenantAddresses ? documentsByTenant(rules) : undefined
  const fixed = resource === undefined ? '' : metadataParameter(metadataAddress(resource))
  return (request: FastifyRequest, { challenge, statusCode }: Fault): string | string[] | null => {
    if (challenge === null) return null
    // Own members only: there may be no `error`, and Object.prototype may have one.
    const error = Object.hasOwn(challenge, 'error') ? challenge.error : undefined
    const scope = Object.hasOwn(challenge, 'scope') ? challenge.scope : undefined
    const stepUp = Object.hasOwn(challenge, 'stepUp') ? challenge.stepUp : undefined
    // A client without a valid token needs the scope for its request to the authorization server.
    const isOfLogin = error === 'insufficient_user_authentication'
    const needsScope = statusCode === 401 && resource !== undefined && !isOfLogin
    const wanted = needsScope ? scopeOf(requiredBy(request)) : ''
    const details = isOfLogin ? loginOf(stepUp) : scopeOf(scope)
    const metadata = metadataOf === undefined ? fixed : metadataOf(request)
    const fault = `${error === undefined ? '' : `, error="${error}"`}${needsScope ? '' : details}`
    if (!senderProofs.dpop) return `${bearer}${fault}${wanted}${metadata}`
    // A bearer token may be bound to a certificate.
    const takesBearer = senderProofs.certificate || !mustBeBound(request)
    const isDpop = !takesBearer || usedDpop(request)
    const ofDpop = `${dpop}${isDpop ? fault : ''}${wanted}${metadata}`
    return takesBearer ? [`${bearer}${isDpop ? '' : fault}${wanted}${metadata}`, ofDpop] : ofDpop
  }
}

/** Finds the document of a request's tenant. */
function documentsByTenant({ resource, tenantParameter }: ChallengeRules) {
  if (resource === undefined) return undefined
  const documents = new TenantAddresses(metadataAddress(resource), tenantParameter)
  return (request: FastifyRequest): string => {
    const context = authContextOf(request)
    const tenant = context ? requestedTenant(context) : null
    return metadataParameter(tenant === null ? undefined : documents.of(tenant))
  }
}

/** RFC 9728 §5.1. */
function metadataParameter(address: string | undefined): string {
  return address === undefined ? '' : `, resource_metadata=${quoted(address)}`
}

/** A verified token of another place than the header is what it has proved to be. */
function usedDpop(request: FastifyRequest): boolean {
  const context = authContextOf(request)
  const isProved = request.headers.authorization === undefined && context?.principal
  return isProved ? context.possession?.bound === 'dpop' : countsAsDpop(request)
}

function mustBeBound(request: FastifyRequest): boolean {
  return authContextOf(request)?.policy.mustBeBound === true
}

/** Scopes of routes, whose ids are frozen. */
const scopes = new WeakMap<readonly string[], string>()

function scopeOf(required: readonly string[] = []): string {
  const known = scopes.get(required)
  if (known !== undefined) return known
  // What a handler requires may be anything, and must not break the header.
  if (!Array.isArray(required)) return ''
  const ids = required.filter(isResourceId)
  const scope = ids.length === 0 ? '' : `, scope="${ids.join(' ')}"`
  if (Object.isFrozen(required)) scopes.set(required, scope)
  return scope
}

/** RFC 9470 §3. An application that makes the error itself may want anything. */
function loginOf(stepUp: Partial<StepUp> = {}): string {
  const { acr = [], maxAge } = ownCopy(stepUp)
  const values = [acr].flat().filter(isAcr)
  const wanted = values.length === 0 ? '' : `, acr_values="${values.join(' ')}"`
  return isMaxAge(maxAge) ? `${wanted}, max_age="${maxAge}"` : wanted
}

/** The ids that the request's route requires. A scope cannot say that any of several will do. */
function requiredBy(request: FastifyRequest): readonly string[] {
  const requirement = authContextOf(request)?.policy.requirement
  return requirement?.mode === 'all' ? requirement.ids : []
}

/** A quoted-string (RFC 9110 §5.6.4). */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}
