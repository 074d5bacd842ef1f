import { isThrown } from '../../platform/runtime/error.ts'

const MESSAGES = {
  ERR_INTROSPECTION_NO_ANSWER: 'the server gave no whole answer in time',
  ERR_INTROSPECTION_ANSWER: 'the server gave no usable answer',
  ERR_INTROSPECTION_BUSY: 'the endpoint answers nobody now (403 or 429)',
  ERR_INTROSPECTION_METADATA: 'the metadata of the issuer cannot be used',
  ERR_INTROSPECTION_CREDENTIALS: 'the endpoint refuses the credentials of this client',
  ERR_INTROSPECTION_ALL_ACTIVE: 'the endpoint calls a random token active',
} as const

export type OpaqueFailureCode = keyof typeof MESSAGES

/**
 * A token cannot be decided now. The text is constant, and there is no cause: errors of fetch and
 * of other servers may hold the token, or the secret of the client.
 */
export class OpaqueFailure extends Error {
  readonly code: OpaqueFailureCode

  constructor(code: OpaqueFailureCode) {
    super(MESSAGES[code])
    this.code = code
  }

  /** True: the endpoint itself is at fault, rather than the way to it, or one answer. */
  get isFault(): boolean {
    return this.refusesClient || this.code === 'ERR_INTROSPECTION_ALL_ACTIVE'
  }

  get refusesClient(): boolean {
    return this.code === 'ERR_INTROSPECTION_CREDENTIALS'
  }

  get isBusy(): boolean {
    return this.code === 'ERR_INTROSPECTION_BUSY'
  }
}

export function asOpaqueFailure(
  error: unknown,
  code: OpaqueFailureCode = 'ERR_INTROSPECTION_ANSWER',
): OpaqueFailure {
  return isThrown(error, OpaqueFailure) ? error : new OpaqueFailure(code)
}
