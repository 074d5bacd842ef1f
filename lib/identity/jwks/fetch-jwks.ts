import { reasonOf, Unusable } from '../../platform/http/failure.ts'
import { type FetchLimits, fetchJson } from '../../platform/http/fetch-json.ts'
import { type FetchPlaces, NO_PLACE } from '../../platform/http/fetch-places.ts'
import type { DocumentSource } from '../../platform/http/remote-document.ts'
import { isPublicAddress } from '../../platform/http/ssrf-safe-request.ts'
import { isSecureUrl } from '../../platform/http/urls.ts'
import { ownCopy } from '../../platform/runtime/own-property.ts'
import type { TimeLimit } from '../../platform/runtime/timer.ts'
import { Discovery } from './discovery.ts'
import { type KeySet, readKeySet } from './jwk-set.ts'

/** Most bytes of a JWK set, and of an issuer's metadata, after decompression. */
export const MAX_KEYS_BYTES = 512 * 1024

/** The place of a key set: its own address, or that in the issuer's metadata. */
type KeyLocation = { readonly url: string } | { readonly issuer: string }

export interface FetchedKeysOptions {
  readonly location: KeyLocation
  /**
   * A customer may have chosen the address, since a function returned it: then it is https, and its
   * name is looked up without a thread of the process. Default: no, the operator chose it.
   */
  readonly isUntrusted?: boolean
  /** Only public addresses may be connected to. Default: no. */
  readonly publicOnly?: boolean
  /** Places that fetches have to share. Default: as many as there are. */
  readonly places?: FetchPlaces
  /** The operator's own tokens hang on these keys. Default: no. */
  readonly isOwn?: boolean
  /** Called with each set that is not the one before. */
  readonly onNew?: (set: KeySet, before: KeySet | undefined) => void
}

/** A key set over HTTP (RFC 8414 §2, `jwks_uri`), as often as it is asked for. */
export class FetchedKeys implements DocumentSource<KeySet> {
  readonly #options: FetchedKeysOptions
  readonly #place: Place
  #url: string
  #last: KeySet | undefined
  #isProved = false

  constructor(options: FetchedKeysOptions) {
    this.#options = ownCopy(options)
    this.#place = placeOf(this.#options.location)
    this.#url = this.#place.url
  }

  get url(): string {
    return this.#url
  }

  async load(limit: TimeLimit): Promise<KeySet> {
    const { onNew } = this.#options
    let set: KeySet
    try {
      set = await this.#load(this.#limits(limit))
      this.#isProved = true
    } catch (error) {
      if (reasonOf(error) !== NO_PLACE) this.#isProved = false
      throw error
    }
    // The same keys stay the same object: what was verified with them stays verified.
    if (set.fingerprint === this.#last?.fingerprint) return this.#last
    const before = this.#last
    this.#last = set
    onNew?.(set, before)
    return set
  }

  #load(limits: FetchLimits): Promise<KeySet> {
    this.#url = this.#place.url
    return this.#place.locate(limits, async (url) => {
      this.#url = url
      if (this.#options.isUntrusted && !isSecureUrl(url)) {
        throw new Unusable('the address is no https URL that can be used')
      }
      return readKeySet(await fetchJson(url, limits))
    })
  }

  #limits(limit: TimeLimit): FetchLimits {
    const { isUntrusted, publicOnly, places, isOwn } = this.#options
    const isAllowed = publicOnly ? isPublicAddress : isUntrusted ? () => true : undefined
    const { signal } = limit
    const limits = { maxBytes: MAX_KEYS_BYTES, signal, isAllowed, isOfOthers: !isOwn }
    if (places === undefined) return limits
    const rank = isOwn ? 'own' : this.#isProved ? 'proved' : 'new'
    const turn: FetchLimits['turn'] = (url, work) => places.run(work, { url, rank, limit })
    return { ...limits, turn }
  }
}

/** The source of the address of the keys. */
interface Place {
  /** The address that is asked first. */
  readonly url: string
  locate<T>(limits: FetchLimits, read: (url: string) => Promise<T>): Promise<T>
}

/** Own members only: Object.prototype may have a `url`. */
function placeOf(location: KeyLocation): Place {
  const own = new Map(Object.entries(location))
  const url = own.get('url')
  if (url === undefined) return new Discovery(String(own.get('issuer')))
  return { url, locate: (_limits, read) => read(url) }
}
