import { ERR_AUTH_TENANTS_UNAVAILABLE } from '../../errors.ts'
import { CachedCallback } from '../../platform/callbacks/cached-callback.ts'
import type { ReportFailure } from '../../platform/callbacks/call-with-timeout.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import type { DocumentState } from '../../platform/http/document-status.ts'
import { readBoolean } from '../../platform/http/failure.ts'
import { withoutStack } from '../../platform/runtime/error.ts'
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts'

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
  has(tenant: string, waits: PendingRequests): MaybePromise<boolean>
  /**
   * Answers that are kept are asked for anew.
   *
   * @param tenant of one tenant; not given: of all
   */
  forget(tenant?: string): void
  /** The state of the document that lists them; undefined: there is none. */
  state(): DocumentState | undefined
}

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

/** A list in the configuration. */
export class ListedTenants implements KnownTenants {
  readonly isReady = true
  readonly #names: ReadonlySet<string>

  constructor(names: readonly string[]) {
    this.#names = new Set(names)
  }

  open(): void {}

  close(): void {}

  /** There is nothing that could change. */
  forget(): void {}

  has(tenant: string): boolean {
    return this.#names.has(tenant)
  }
  state(): undefined {}
}

/** Most tenants whose existence is remembered. */
const MAX_REMEMBERED = 100_000

interface AskedTenantsOptions {
  /** Seconds for one call. */
  readonly timeout: number
  /** Seconds for which a `true` is kept. A `false` is never kept. */
  readonly maxAge: number
  /** Reports why there is no answer. */
  readonly report?: ReportFailure
}

/** A function of the application. Requests that arrive together ask it once. */
export class TenantsByFunction implements KnownTenants {
  readonly isReady = true
  readonly #answers: CachedCallback<boolean, boolean>

  constructor(
    exists: (tenant: string) => boolean | Promise<boolean>,
    { timeout, maxAge, ...reporting }: AskedTenantsOptions,
  ) {
    this.#answers = new CachedCallback({
      ask: (tenant) => exists(tenant),
      timeout,
      ...reporting,
      read: readBoolean,
      learn: (doesExist) => doesExist,
      refuse: (reason) =>
        withoutStack(() => new ERR_AUTH_TENANTS_UNAVAILABLE(1, `the tenants function ${reason}`)),
      keptFor: (doesExist) => (doesExist ? maxAge : 0),
      maxKept: MAX_REMEMBERED,
    })
  }

  open(): void {
    this.#answers.open()
  }

  close(): void {
    this.#answers.close()
  }

  forget(tenant?: string): void {
    this.#answers.forget((known) => tenant === undefined || known === tenant)
  }

  has(tenant: string, waits: PendingRequests): MaybePromise<boolean> {
    return this.#answers.get(tenant, waits)
  }
  state(): undefined {}
}
