import type { DocumentState } from '../outside/document-times.ts'
import type { NowOrLater } from '../outside/now-or-later.ts'
import type { Waits } from '../outside/waits.ts'

/** Which tenants exist. */
export interface KnownTenants {
  open(): void
  close(): void
  /** Whether the answers can be given now. */
  readonly isReady: boolean
  /**
   * Whether the tenant exists; a promise only where that is not known at once, and then one of
   * `waits`.
   *
   * @throws ERR_AUTH_TENANTS_UNAVAILABLE
   */
  has(tenant: string, waits: Waits): NowOrLater<boolean>
  /** Of the document that tells it, where there is one. */
  state?(): DocumentState
}
