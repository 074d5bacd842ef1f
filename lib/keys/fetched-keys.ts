import { type FetchLimits, fetchJson } from '../outside/fetch-json.ts'
import type { HostSlots } from '../outside/host-slots.ts'
import { isPublicAddress } from '../outside/public-address.ts'
import type { DocumentSource } from '../outside/remote-document.ts'
import { Discovery } from './discovery.ts'
import { KeySet } from './key-set.ts'

/** Most bytes of a JWK set, and of an issuer's metadata, after decompression. */
export const MAX_KEYS_BYTES = 512 * 1024

/** Where a key set is: at its own address, or where the issuer's metadata says. */
export type KeyLocation = { readonly url: string } | { readonly issuer: string }

export interface FetchedKeysOptions {
  readonly location: KeyLocation
  /** Whether only public addresses may be connected to. Default: no, the operator chooses them. */
  readonly publicOnly?: boolean
  /** Places that fetches have to share. Default: as many as there are. */
  readonly slots?: HostSlots
  /** Told of each set that is not the one before. */
  readonly onNew?: (set: KeySet) => void
}

/** A key set over HTTP (RFC 8414 §2, `jwks_uri`), as often as it is asked for. */
export class FetchedKeys implements DocumentSource<KeySet> {
  readonly #place: Place
  readonly #isAllowed: FetchLimits['isAllowed']
  readonly #slots: HostSlots | undefined
  readonly #onNew: FetchedKeysOptions['onNew']
  #url: string
  #last: KeySet | undefined

  constructor({ location, publicOnly, slots, onNew }: FetchedKeysOptions) {
    this.#place = placeOf(location)
    this.#isAllowed = publicOnly ? isPublicAddress : undefined
    this.#slots = slots
    this.#onNew = onNew
    this.#url = this.#place.url
  }

  get url(): string {
    return this.#url
  }

  load(signal: AbortSignal): Promise<KeySet> {
    const limits = { maxBytes: MAX_KEYS_BYTES, signal, isAllowed: this.#isAllowed }
    const load = () => this.#load(limits)
    return this.#slots ? this.#slots.run(this.#place.url, load, signal) : load()
  }

  async #load(limits: FetchLimits): Promise<KeySet> {
    this.#url = this.#place.url
    const set = await this.#place.locate(limits, async (url) => {
      this.#url = url
      return new KeySet(await fetchJson(url, limits))
    })
    // The same keys stay the same object: what was verified with them stays verified.
    if (set.fingerprint === this.#last?.fingerprint) return this.#last
    this.#last = set
    this.#onNew?.(set)
    return set
  }
}

/** What tells where the keys are now. */
interface Place {
  /** The address that is asked first. */
  readonly url: string
  locate<T>(limits: FetchLimits, read: (url: string) => Promise<T>): Promise<T>
}

/** By own members: Object.prototype may have an `url`. */
function placeOf(location: KeyLocation): Place {
  const own = new Map(Object.entries(location))
  const url = own.get('url')
  return url === undefined ? new Discovery(String(own.get('issuer'))) : placeAt(url)
}

function placeAt(url: string): Place {
  return { url, locate: (_limits, read) => read(url) }
}
