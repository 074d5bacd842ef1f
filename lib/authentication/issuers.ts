import type { NowOrLater } from '../outside/now-or-later.ts'
import type { Waits } from '../outside/waits.ts'
import type { Issuer } from './issuer.ts'

/** Who is trusted, and finds the issuer of a token. */
export interface Issuers {
  /** Starts what runs in the background. */
  open(): void
  /** Ends what runs in the background. */
  close(): void
  /** Whether tokens can be verified now, by the issuers that are configured. */
  readonly isReady: boolean
  /** Whether the application is asked who is trusted. */
  readonly areAsked: boolean
  /**
   * Gets new keys.
   *
   * @param iss of one issuer; not given: of all that are configured
   * @throws ERR_AUTH_KEYS_UNAVAILABLE
   */
  refreshKeys(iss?: string): Promise<void>
  /**
   * The issuer of a token; a promise only where it has to be asked for, and then one of `waits`.
   *
   * @param claimed what the token says, which may choose among those that are trusted
   * @throws TokenRefused
   * @throws ERR_AUTH_ISSUERS_UNAVAILABLE
   */
  find(claimed: Claimed, waits: Waits): NowOrLater<Issuer>
  /**
   * What the application has told of an issuer is asked anew.
   *
   * @param iss of one issuer; not given: of all
   */
  forget(iss?: string): void
  /** Those that are known now. */
  all(): readonly Issuer[]
}

/** As much of a token as chooses its issuer. It need not be proved. */
export interface Claimed {
  /** The claim `iss` (RFC 7519 §4.1.1); undefined: there is none, or it is no string. */
  readonly iss: string | undefined
}
