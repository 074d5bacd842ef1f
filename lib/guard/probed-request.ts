import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Policy } from '../declaration/policy.ts'
import type { AuthError } from '../errors.ts'
import type { Refused } from './refused.ts'

/**
 * The raw request of a probe. Its class is the mark of a probe. A request that comes from outside
 * has Node's class, so no header and no socket can make one.
 */
export class ProbedRequest extends Readable {}

/** Where a probed request ended. */
export interface ProbeEnd {
  /** The url of its route. Undefined if no route matched. */
  readonly url: string | undefined
  /** Null if no route matched, or if the guard did not find the policy. */
  readonly policy: Policy | null
  /** Null if the guard let the request through, so that the gate answered. */
  readonly error: AuthError | null
}

const ends = new WeakMap<object, ProbeEnd>()

/** Undefined if something else than the guard has answered. */
export function probeEndOf(raw: object): ProbeEnd | undefined {
  return ends.get(raw)
}

/** Notes that the guard refused a request, if it is a probed one. */
export function noteRefusal({ asked: { request, policy }, error }: Refused): void {
  if (isProbed(request)) note(request, policy, error)
}

/**
 * What the last gate calls when it is done with a request: `done`, or for a probed request an
 * answer in the handler's place. So a probe runs no handler, even if the guard decides wrongly.
 */
export function doneUnlessProbed(
  request: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
  policyOf: (request: FastifyRequest) => Policy | null,
): HookHandlerDoneFunction {
  if (!isProbed(request)) return done
  return (error) => {
    if (error !== undefined) {
      done(error)
      return
    }
    if (probeEndOf(request.raw) === undefined) note(request, policyOf(request), null)
    reply.code(request.is404 ? 404 : 204).send()
  }
}

function isProbed({ raw }: FastifyRequest): boolean {
  return raw instanceof ProbedRequest
}

function note(request: FastifyRequest, policy: Policy | null, error: AuthError | null): void {
  ends.set(request.raw, { url: request.routeOptions.url, policy, error })
}
