import { TokenRefused } from './token-refused.ts'

/**
 * The signature is not of the key that the header chose: a forgery, or, without a `kid`, another
 * key's.
 */
export class SignatureMismatch extends TokenRefused {
  constructor() {
    super('the signature does not match')
  }
}
