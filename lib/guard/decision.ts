import type { FastifyRequest } from 'fastify'
import type { Declared } from '../declaration/declaration.ts'
import type { Authorization } from '../rights/authorization.ts'
import type { Asked } from './asked.ts'
import type { Refused } from './refused.ts'

/** A decision that let the request through. */
export class Access {
  readonly asked: Asked
  readonly authorization: Authorization

  constructor(asked: Asked, authorization: Authorization) {
    this.asked = asked
    this.authorization = authorization
    Object.freeze(this)
  }

  /** What its route declares. */
  get declared(): Declared {
    return this.asked.policy.declared
  }
}

/** What is known of a request: let through, refused, or not guarded (null). */
export type Decision = Access | Refused | null

const kDecision = Symbol('fastify-tenant-auth.decision')

type Decided = FastifyRequest & { [kDecision]?: Decision | undefined }

/** Undefined: nothing is decided yet. */
export function decisionOf(request: Decided): Decision | undefined {
  return request[kDecision]
}

export function setDecision(request: Decided, decision: Decision | undefined): void {
  request[kDecision] = decision
}

/** The request as it was decided; null: it is not decided, or not guarded. */
export function askedOf(request: FastifyRequest): Asked | null {
  return decisionOf(request)?.asked ?? null
}

/** Undefined if the request was not let through. */
export function accessOf(request: FastifyRequest): Access | undefined {
  const decision = decisionOf(request)
  return decision instanceof Access ? decision : undefined
}
