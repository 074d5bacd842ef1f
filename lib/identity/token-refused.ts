/** A token that cannot be accepted. The reason is constant text for the log; the caller is told none of it. */
export class TokenRefused extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}
