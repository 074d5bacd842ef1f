import type { DocumentState } from '../outside/document-state.ts'
import type { NowOrLater } from '../outside/now-or-later.ts'
import type { Waits } from '../outside/waits.ts'

/** Which tenants exist. */
export interface KnownTenants {
  open(): void
  close(): void
  /** Whether the answers can be given now. */
  readonly isReady: boolean
  /**
   * Whether the tenant exists. A promise only if that is not known at once; then it is one of
   * `waits`.
   *
   * @throws ERR_AUTH_TENANTS_UNAVAILABLE if it cannot be found out now
   */
  has(tenant: string, waits: Waits): NowOrLater<boolean>
  /**
   * What has been said is asked anew.
   *
   * @param tenant of one tenant; not given: of all
   */
  forget(tenant?: string): void
  /** Of the document that tells it; undefined: there is none. */
  state(): DocumentState | undefined
}
