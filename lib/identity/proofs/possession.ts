import type { FastifyRequest } from 'fastify'
import { ERR_AUTH_PROOFS_UNAVAILABLE } from '../../errors.ts'
import {
  callWithTimeout,
  type ReportFailure,
  thrown,
} from '../../platform/callbacks/call-with-timeout.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { readBoolean } from '../../platform/http/failure.ts'
import { withoutStack } from '../../platform/runtime/error.ts'
import { after, ignoreRejection, type MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import type { Confirmation } from '../jwt/confirmation.ts'
import { tokenRefusal } from '../jwt/token-refusal.ts'
import { type GoodProof, isOver, proofRefusal, verifyProof } from './dpop-proof.ts'
import { PublicAddress } from './proof-address.ts'
import { type ClientCertificate, thumbprintOfCertificate } from './sender-proofs.ts'

/**
 * Notes that a proof has been seen. True: for the first time. It is asked after all else of a proof
 * is good, and must not forget it before `until`.
 */
export type ProofSeen = (key: string, until: Date) => boolean | Promise<boolean>

/** The keys that the sender of a bound token has proved to hold, and the way. */
export interface Possessed {
  /** Null, as `bound`: the token is unbound, and came as one. */
  readonly confirmation: Confirmation | null
  readonly bound: 'dpop' | 'mtls' | null
}

const UNBOUND: Possessed = Object.freeze({ confirmation: null, bound: null })

interface PossessionRules {
  /** Seconds that a proof counts before its time and after. */
  readonly maxAge: number
  /** The address that clients know the API by. */
  readonly publicUrl: string
  readonly proofSeen: ProofSeen & { readonly size?: number }
  readonly clientCertificate: ClientCertificate
  /** Seconds for one call of `proofSeen`. */
  readonly timeout: number
  readonly reportProofSeen: ReportFailure
  readonly reportCertificate: ReportFailure
  /** True: the request is a probe, whose proof is not noted. */
  readonly isProbe: (request: FastifyRequest) => boolean
}

/** The figures of the proofs of a service. */
export interface ProofStats {
  /** Proofs that the table of this process holds; 0 if the application has one of its own. */
  readonly size: number
  /** Requests that came with a proof that had been seen before. */
  readonly replayed: number
}

/** A token, with its request. */
export interface Sent {
  readonly request: FastifyRequest
  readonly token: string
}

export class Possession {
  readonly #rules: PossessionRules
  readonly #address: PublicAddress
  #replayed = 0

  constructor(rules: PossessionRules) {
    this.#rules = rules
    this.#address = new PublicAddress(rules.publicUrl)
  }

  get stats(): ProofStats {
    const { size } = this.#rules.proofSeen
    return { size: typeof size === 'number' ? size : 0, replayed: this.#replayed }
  }

  /**
   * The keys that the sender of a verified token has proved to hold. A promise only if `proofSeen`
   * gives one, and then one of `waits`.
   *
   * @param known.possession the proof that the request made at `onRequest`; null: none yet. A proof
   * counts once, and a hook may have put another scheme into the header
   * @param known.mustBeBound whether an unbound token is refused
   * @throws ERR_AUTH_TOKEN_INVALID, ERR_AUTH_PROOFS_UNAVAILABLE
   */
  prove(
    sent: Sent,
    confirmation: Confirmation | null,
    known: { readonly possession: Possessed | null; readonly mustBeBound: boolean },
    waits: PendingRequests,
  ): MaybePromise<Possessed> {
    const { possession } = known
    if (possession !== null && isSame(possession.confirmation, confirmation)) return possession
    if (confirmation === null) {
      if (hasDpopScheme(sent.request)) throw tokenRefusal('an unbound token with the scheme DPoP')
      if (known.mustBeBound) throw tokenRefusal('not bound to its sender')
      return UNBOUND
    }
    const found = this.#boundBy(sent, confirmation, waits)
    return after(found, (bound) => ({ confirmation, bound }))
  }

  #boundBy(
    { request, token }: Sent,
    confirmation: Confirmation,
    waits: PendingRequests,
  ): MaybePromise<Possessed['bound']> {
    const { jkt, x5t } = confirmation
    if (jkt === null && hasDpopScheme(request)) {
      throw tokenRefusal('bound to a certificate, with the scheme DPoP')
    }
    if (jkt !== null && !countsAsDpop(request)) {
      throw tokenRefusal('bound to a key, with the scheme Bearer')
    }
    if (x5t !== null) {
      const shown = this.#certificateOf(request)
      if (shown === null) throw tokenRefusal('bound to a certificate, and there is none')
      if (shown !== x5t) throw tokenRefusal('bound to another certificate')
    }
    if (jkt === null) return 'mtls'
    const proof = verifyProof(proofOf(request), confirmation, {
      jkt,
      method: request.method,
      address: () => this.#address.of(request.originalUrl),
      token,
      maxAge: this.#rules.maxAge,
    })
    // The last question, so that a proof that is refused is not used up.
    return this.#rules.isProbe(request) ? 'dpop' : this.#note(proof, waits)
  }

  #note({ key, until }: GoodProof, waits: PendingRequests): MaybePromise<'dpop'> {
    const { proofSeen, timeout, reportProofSeen: report } = this.#rules
    const isFirst = callWithTimeout({
      // A copy, since the application may change it.
      ask: () => proofSeen(key, new Date(until)),
      timeout,
      waits,
      report,
      read: readBoolean,
      refuse: (reason) => unavailable(`proofSeen ${reason}`),
    })
    return after(isFirst, (isSo) => {
      // The table may have forgotten it on the way.
      if (isOver(until)) throw proofRefusal('of another time')
      if (isSo) return 'dpop'
      this.#replayed += 1
      throw proofRefusal('it has been seen before')
    })
  }

  #certificateOf(request: FastifyRequest): string | null {
    const { clientCertificate, reportCertificate } = this.#rules
    let certificate: unknown
    try {
      certificate = clientCertificate(request)
      return thumbprintOfCertificate(certificate)
    } catch (error) {
      const failure = thrown(error)
      reportCertificate(failure)
      ignoreRejection(certificate)
      throw unavailable(`clientCertificate ${failure.reason}`)
    }
  }
}

function isSame(one: Confirmation | null, other: Confirmation | null): boolean {
  return one?.jkt === other?.jkt && one?.x5t === other?.x5t
}

function unavailable(reason: string): ERR_AUTH_PROOFS_UNAVAILABLE {
  return withoutStack(() => new ERR_AUTH_PROOFS_UNAVAILABLE(1, reason))
}

/** RFC 9110 §11.1: the case of a scheme does not matter. */
const DPOP = /^dpop(?: |$)/i

function hasDpopScheme({ headers: { authorization } }: FastifyRequest): boolean {
  return authorization !== undefined && DPOP.test(authorization)
}

/**
 * True: the request uses the scheme DPoP (RFC 9449 §7.1). A token from another place than the
 * header has no scheme, and counts by the proof beside it.
 */
export function countsAsDpop(request: FastifyRequest): boolean {
  const { authorization, dpop } = request.headers
  return authorization === undefined ? dpop !== undefined : hasDpopScheme(request)
}

/** @throws ERR_AUTH_TOKEN_INVALID without exactly one proof (RFC 9449 §4.3) */
function proofOf({ headers: { dpop } }: FastifyRequest): string {
  if (dpop === undefined) throw proofRefusal('there is none')
  // Node joins several by a comma and a space, which no proof has.
  if (typeof dpop !== 'string' || dpop.includes(',')) throw proofRefusal('there are several')
  return dpop
}
