const MESSAGES = {
  ERR_DENY_LIST_NOT_LOADED: 'the deny list is not loaded yet',
  ERR_DENY_LIST_STALE: 'the deny list is older than maxStale',
  ERR_DENY_LIST_FULL: 'there are more entries than there is room for',
  ERR_DENY_LIST_ISSUER_FULL: 'there are too many entries of this issuer',
  ERR_DENY_LIST_USER_FULL: 'there are too many entries of this user',
} as const

export type DenyListFailureCode = keyof typeof MESSAGES

/** Why a deny list cannot tell whether a token is revoked. */
export class DenyListFailure extends Error {
  readonly code: DenyListFailureCode

  constructor(code: DenyListFailureCode) {
    super(MESSAGES[code])
    this.code = code
  }
}
