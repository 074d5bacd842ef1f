import { ERR_AUTH_TENANTS_UNAVAILABLE } from '../../errors.ts'
import { CachedCallback } from '../../platform/callbacks/cached-callback.ts'
import type { ReportFailure } from '../../platform/callbacks/call-with-timeout.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import type { DocumentState } from '../../platform/http/document-status.ts'
import { unexpected } from '../../platform/http/failure.ts'
import { withoutStack } from '../../platform/runtime/error.ts'
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts'

/** True: the tenant exists. False: it does not. */
export type TenantState = boolean | 'suspended'

/** The tenants that exist, and their states. */
export interface KnownTenants {
  open(): void
  close(): void
  readonly isReady: boolean
  /**
   * The state of a tenant. A promise only if that is not known at once; then it is one of `waits`.
   *
   * @throws ERR_AUTH_TENANTS_UNAVAILABLE if it cannot be found out now
   */
  stateOf(tenant: string, waits: PendingRequests): MaybePromise<TenantState>
  /**
   * Calls a function when the tenant turns out to be suspended; at once, if that is kept already.
   * Returns what ends the wait.
   */
  watch(tenant: string, onSuspended: () => void): () => void
  /**
   * Answers that are kept are asked for anew.
   *
   * @param tenant of one tenant; not given: of all
   */
  forget(tenant?: string): void
  /** The state of the document that lists them; undefined: there is none. */
  state(): DocumentState | undefined
}

/** Tenants whose states are known at boot. */
abstract class FixedTenants implements KnownTenants {
  readonly isReady = true

  abstract stateOf(tenant: string): TenantState

  open(): void {}

  close(): void {}

  /** Nothing can change. */
  forget(): void {}

  watch(): () => void {
    return () => {}
  }

  state(): undefined {}
}

/**
 * For a service without configured tenants: every tenant that a user may act for is taken to exist.
 */
export class AnyTenant extends FixedTenants {
  override stateOf(): true {
    return true
  }
}

export class ListedTenants extends FixedTenants {
  readonly #states: ReadonlyMap<string, TenantState>

  constructor(ids: readonly string[], suspended: readonly string[] = []) {
    super()
    this.#states = new Map<string, TenantState>([
      ...ids.map((id) => [id, true] as const),
      ...suspended.map((id) => [id, 'suspended'] as const),
    ])
  }

  override stateOf(tenant: string): TenantState {
    return this.#states.get(tenant) ?? false
  }
}

/** Most tenants whose existence is remembered. */
const MAX_REMEMBERED = 100_000

interface AskedTenantsOptions {
  /** Seconds. */
  readonly timeout: number
  /** Seconds for which an answer is kept. A `false` is never kept. */
  readonly maxAge: number
  readonly report?: ReportFailure
}

/** A function of the application. Requests that arrive together ask it once. */
export class TenantsByFunction implements KnownTenants {
  readonly isReady = true
  readonly #answers: CachedCallback<TenantState>
  readonly #watched = new WatchedTenants()

  constructor(
    stateOf: (tenant: string) => TenantState | Promise<TenantState>,
    { timeout, maxAge, ...reporting }: AskedTenantsOptions,
  ) {
    this.#answers = new CachedCallback({
      ask: (tenant) => stateOf(tenant),
      timeout,
      ...reporting,
      read: readState,
      toValue: (state) => state,
      onCached: (state, tenant) => {
        if (state === 'suspended') this.#watched.notify((watched) => watched === tenant)
      },
      refuse: (reason) =>
        withoutStack(() => new ERR_AUTH_TENANTS_UNAVAILABLE(1, `the tenants function ${reason}`)),
      keptFor: (state) => (state === false ? 0 : maxAge),
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

  stateOf(tenant: string, waits: PendingRequests): MaybePromise<TenantState> {
    return this.#answers.get(tenant, waits)
  }

  watch(tenant: string, onSuspended: () => void): () => void {
    if (this.#answers.fresh(tenant) === 'suspended') onSuspended()
    return this.#watched.add(tenant, onSuspended)
  }

  state(): undefined {}
}

/** @throws Unusable */
function readState(answer: unknown): TenantState {
  if (typeof answer === 'boolean' || answer === 'suspended') return answer
  throw unexpected('the answer', "a boolean or 'suspended'", answer)
}

/** The waits for the suspension of tenants. */
export class WatchedTenants {
  readonly #watchers = new Map<string, Set<() => void>>()

  /** Returns what ends the wait. */
  add(tenant: string, onSuspended: () => void): () => void {
    const watchers = this.#watchers.get(tenant) ?? new Set()
    // A function may watch twice.
    const watcher = () => onSuspended()
    this.#watchers.set(tenant, watchers.add(watcher))
    return () => {
      if (watchers.delete(watcher) && watchers.size === 0) this.#watchers.delete(tenant)
    }
  }

  notify(isSuspended: (tenant: string) => boolean): void {
    for (const [tenant, watchers] of [...this.#watchers]) {
      if (isSuspended(tenant)) for (const watcher of [...watchers]) watcher()
    }
  }
}
