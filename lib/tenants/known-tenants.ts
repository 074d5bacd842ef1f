import { ERR_AUTH_TENANTS_UNAVAILABLE } from '../errors.ts'
import { askApplication } from '../outside/ask-application.ts'
import { clock } from '../outside/clock.ts'
import { fetchText } from '../outside/fetch-json.ts'
import {
  type Freshness,
  RemoteDocument,
  type RemoteDocumentEvents,
} from '../outside/remote-document.ts'
import { Waits } from '../outside/waits.ts'
import { withoutStack } from '../outside/without-stack.ts'
import { readTenantList } from './tenant-list.ts'

/** Which tenants exist. */
export interface KnownTenants {
  open(): void
  close(): void
  /** Whether the answers can be given now. */
  readonly isReady: boolean
  /**
   * Whether the tenant exists; a promise only where that is not known at once, and then one of `waits`.
   *
   * @throws ERR_AUTH_TENANTS_UNAVAILABLE
   */
  has(tenant: string, waits: Waits): boolean | Promise<boolean>
}

/** Not configured: every tenant that a user may act for is taken to exist. */
export class AnyTenant implements KnownTenants {
  readonly isReady = true

  open(): void {}

  close(): void {}

  has(): boolean {
    return true
  }
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

  has(tenant: string): boolean {
    return this.#names.has(tenant)
  }
}

/** Most bytes of a tenant list, after decompression. */
const MAX_BYTES = 16 * 1024 * 1024

/** A JSON array of names at an URL. */
export class RemoteTenants implements KnownTenants {
  readonly #document: RemoteDocument<ReadonlySet<string>>

  constructor(url: string, freshness: Freshness, events: RemoteDocumentEvents) {
    const load = async (signal: AbortSignal) =>
      readTenantList(await fetchText(url, { maxBytes: MAX_BYTES, signal }))
    this.#document = new RemoteDocument({ url, load }, freshness, events)
  }

  open(): void {
    this.#document.open()
  }

  close(): void {
    this.#document.close()
  }

  get isReady(): boolean {
    return this.#document.current() !== undefined
  }

  has(tenant: string, waits: Waits): boolean | Promise<boolean> {
    const names = this.#document.current()
    if (names) return names.has(tenant)
    return waits.for(this.#afterLoading(tenant), () => this.#unavailable())
  }

  async #afterLoading(tenant: string): Promise<boolean> {
    const names = await this.#document.settled()
    if (names) return names.has(tenant)
    throw this.#unavailable()
  }

  #unavailable(): ERR_AUTH_TENANTS_UNAVAILABLE {
    const { retryAfter } = this.#document
    return withoutStack(
      () => new ERR_AUTH_TENANTS_UNAVAILABLE(retryAfter, 'no tenant list can be had'),
    )
  }
}

/** Most tenants whose existence is remembered. */
const MAX_REMEMBERED = 100_000

export interface AskedTenantsOptions {
  /** Seconds for one call. */
  readonly timeout: number
  /** Seconds that a `true` is kept; a `false` never is. */
  readonly maxAge: number
}

/** A function of the application, asked once for requests that arrive together. */
export class AskedTenants implements KnownTenants {
  readonly isReady = true
  readonly #exists: (tenant: string) => boolean | Promise<boolean>
  readonly #options: AskedTenantsOptions
  /** Until when a tenant is known to exist, by `clock`; the oldest first. */
  readonly #knownUntil = new Map<string, number>()
  readonly #asking = new Map<string, Promise<boolean>>()
  /** Of the questions, which the requests of several applications may share. */
  readonly #waits = new Waits()

  constructor(
    exists: (tenant: string) => boolean | Promise<boolean>,
    options: AskedTenantsOptions,
  ) {
    this.#exists = exists
    this.#options = options
  }

  open(): void {
    this.#waits.resume()
  }

  close(): void {
    this.#waits.end()
  }

  has(tenant: string, waits: Waits): boolean | Promise<boolean> {
    const until = this.#knownUntil.get(tenant)
    if (until !== undefined && clock.now() < until) return true
    const answer = this.#asking.get(tenant) ?? this.#ask(tenant)
    if (typeof answer === 'boolean') return answer
    return waits.for(answer, () => refusal('had not answered when the application closed'))
  }

  #ask(tenant: string): boolean | Promise<boolean> {
    const answer = askApplication({
      ask: () => this.#exists(tenant),
      timeout: this.#options.timeout,
      waits: this.#waits,
      isAnswer: (value) => typeof value === 'boolean',
      refuse: refusal,
    })
    if (typeof answer === 'boolean') return this.#learn(tenant, answer)
    const learnt = answer
      .then((exists) => this.#learn(tenant, exists))
      .finally(() => this.#asking.delete(tenant))
    this.#asking.set(tenant, learnt)
    return learnt
  }

  #learn(tenant: string, exists: boolean): boolean {
    this.#knownUntil.delete(tenant)
    if (!exists || this.#options.maxAge === 0) return exists
    for (const oldest of this.#knownUntil.keys()) {
      if (this.#knownUntil.size < MAX_REMEMBERED) break
      this.#knownUntil.delete(oldest)
    }
    this.#knownUntil.set(tenant, clock.now() + this.#options.maxAge * 1000)
    return exists
  }
}

function refusal(reason: string): ERR_AUTH_TENANTS_UNAVAILABLE {
  return withoutStack(() => new ERR_AUTH_TENANTS_UNAVAILABLE(1, `the tenants function ${reason}`))
}
