import { ERR_AUTH_TENANTS_UNAVAILABLE } from '../../errors.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import type { DocumentState } from '../../platform/http/document-status.ts'
import { Unusable } from '../../platform/http/failure.ts'
import { fetchText } from '../../platform/http/fetch-json.ts'
import type { Freshness } from '../../platform/http/freshness.ts'
import { RemoteDocument, type RemoteDocumentEvents } from '../../platform/http/remote-document.ts'
import { withoutStack } from '../../platform/runtime/error.ts'
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import { isObject, ownProperty } from '../../platform/runtime/own-property.ts'
import type { TimeLimit } from '../../platform/runtime/timer.ts'
import { type KnownTenants, type TenantState, WatchedTenants } from './known-tenants.ts'
import { isTenantName } from './tenant-name.ts'

/** Most bytes of a tenant list, after decompression. */
export const MAX_LIST_BYTES = 1024 * 1024

type TenantStates = ReadonlyMap<string, true | 'suspended'>

/** A JSON array at a URL. */
export class RemoteTenants implements KnownTenants {
  readonly #document: RemoteDocument<TenantStates>
  readonly #watched = new WatchedTenants()

  constructor(url: string, freshness: Freshness, events: RemoteDocumentEvents) {
    const load = async ({ signal }: TimeLimit) =>
      readTenantList(await fetchText(url, { maxBytes: MAX_LIST_BYTES, signal }))
    // A list that was forgotten on its way, too: it refuses those who have waited for it.
    const onLoaded = (states: TenantStates) =>
      this.#watched.notify((tenant) => states.get(tenant) === 'suspended')
    this.#document = new RemoteDocument({ url, load, onLoaded }, freshness, events)
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

  /** One list holds all tenants. It is fetched anew, and waited for. */
  forget(): void {
    this.#document.forget()
  }

  stateOf(tenant: string, waits: PendingRequests): MaybePromise<TenantState> {
    const states = this.#document.current()
    if (states) return states.get(tenant) ?? false
    return waits
      .waitFor(this.#whenLoaded(), () => this.#unavailable())
      .then((late) => late.get(tenant) ?? false)
  }

  watch(tenant: string, onSuspended: () => void): () => void {
    if (this.#document.current()?.get(tenant) === 'suspended') onSuspended()
    return this.#watched.add(tenant, onSuspended)
  }

  state(): DocumentState {
    return this.#document.state()
  }

  async #whenLoaded(): Promise<TenantStates> {
    const states = await this.#document.settled()
    if (states) return states
    throw this.#unavailable()
  }

  #unavailable(): ERR_AUTH_TENANTS_UNAVAILABLE {
    const { retryAfter } = this.#document
    return withoutStack(
      () => new ERR_AUTH_TENANTS_UNAVAILABLE(retryAfter, 'no tenant list can be had'),
    )
  }
}

/**
 * The tenants of a JSON array of names, and of objects such as `{ "name": "old", "state":
 * "suspended" }`.
 *
 * @throws Unusable unless it is such a list, and no name has two states
 */
export function readTenantList(text: string): TenantStates {
  const states = new Map<string, true | 'suspended'>()
  for (const item of readArray(text)) {
    const name = isObject(item) ? ownProperty(item, 'name') : item
    const state = isObject(item) ? readState(ownProperty(item, 'state')) : true
    if (!isTenantName(name) || (states.get(name) ?? state) !== state) return refuse()
    states.set(name, state)
  }
  return states
}

function readState(state: unknown): 'suspended' {
  return state === 'suspended' ? state : refuse()
}

function readArray(text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text)
    if (Array.isArray(list)) return list
  } catch {}
  return refuse()
}

function refuse(): never {
  throw new Unusable('the answer is no JSON array of tenant names')
}
