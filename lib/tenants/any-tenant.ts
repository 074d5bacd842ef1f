import type { KnownTenants } from './known-tenants.ts'

/**
 * For a service without configured tenants: every tenant that a user may act for is taken to exist.
 */
export class AnyTenant implements KnownTenants {
  readonly isReady = true

  open(): void {}

  close(): void {}

  /** There is nothing that could change. */
  forget(): void {}

  has(): boolean {
    return true
  }
  state(): undefined {}
}
