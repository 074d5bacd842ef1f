import { ERR_AUTH_TENANTS_UNAVAILABLE } from '../errors.ts'
import type { DocumentState } from '../outside/document-state.ts'
import { fetchText } from '../outside/fetch-json.ts'
import type { Freshness } from '../outside/freshness.ts'
import type { NowOrLater } from '../outside/now-or-later.ts'
import { RemoteDocument, type RemoteDocumentEvents } from '../outside/remote-document.ts'
import type { Waits } from '../outside/waits.ts'
import { withoutStack } from '../outside/without-stack.ts'
import type { KnownTenants } from './known-tenants.ts'
import { readTenantList } from './tenant-list.ts'

/** Most bytes of a tenant list, after decompression. */
export const MAX_LIST_BYTES = 16 * 1024 * 1024

/** A JSON array of names at a URL. */
export class RemoteTenants implements KnownTenants {
  readonly #document: RemoteDocument<ReadonlySet<string>>

  constructor(url: string, freshness: Freshness, events: RemoteDocumentEvents) {
    const load = async (signal: AbortSignal) =>
      readTenantList(await fetchText(url, { maxBytes: MAX_LIST_BYTES, signal }))
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

  /** The list is one for all: it is fetched anew, and waited for. */
  forget(): void {
    this.#document.forget()
  }

  has(tenant: string, waits: Waits): NowOrLater<boolean> {
    const names = this.#document.current()
    if (names) return names.has(tenant)
    return waits.for(this.#whenLoaded(), () => this.#unavailable()).then((late) => late.has(tenant))
  }

  state(): DocumentState {
    return this.#document.state()
  }

  async #whenLoaded(): Promise<ReadonlySet<string>> {
    const names = await this.#document.settled()
    if (names) return names
    throw this.#unavailable()
  }

  #unavailable(): ERR_AUTH_TENANTS_UNAVAILABLE {
    const { retryAfter } = this.#document
    return withoutStack(
      () => new ERR_AUTH_TENANTS_UNAVAILABLE(retryAfter, 'no tenant list can be had'),
    )
  }
}
