import type { Mismatch } from '../errors.ts'

/**
 * A token that cannot be accepted. The reason is constant text for the log; the caller is told
 * neither the reason nor the mismatch. It is no Error: strangers cause it, and a stack costs more
 * than the checks that led to it.
 */
export class TokenRefused {
  readonly reason: string
  readonly mismatch: (() => Mismatch) | undefined

  constructor(reason: string, mismatch?: () => Mismatch) {
    this.reason = reason
    this.mismatch = mismatch
  }
}

/**
 * The signature is not of the key that the header chose: a forgery, or, without a `kid`, another
 * key's.
 */
export class SignatureMismatch extends TokenRefused {
  constructor() {
    super('the signature does not match')
  }
}
