import { ERR_AUTH_TOKEN_INVALID, type Mismatch } from '../../errors.ts'
import { withoutStack } from '../../platform/runtime/error.ts'

/**
 * The refusal of a DPoP proof that is bad or missing (RFC 9449 §7.1 `invalid_dpop_proof`). The
 * reason is constant text for the log.
 */
export function refuseProof(reason: string, mismatch?: () => Mismatch): ERR_AUTH_TOKEN_INVALID {
  const error = 'invalid_dpop_proof'
  return withoutStack(() => new ERR_AUTH_TOKEN_INVALID(`DPoP proof: ${reason}`, mismatch, error))
}
