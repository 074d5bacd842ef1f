import { setImmediate } from 'node:timers/promises'
import { ERR_AUTH_TENANTS_UNAVAILABLE } from '../../errors.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import type { DocumentState } from '../../platform/http/document-status.ts'
import { Unusable } from '../../platform/http/failure.ts'
import { fetchText } from '../../platform/http/fetch-json.ts'
import type { Freshness } from '../../platform/http/freshness.ts'
import { RemoteDocument, type RemoteDocumentEvents } from '../../platform/http/remote-document.ts'
import { withoutStack } from '../../platform/runtime/error.ts'
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import type { KnownTenants } from './known-tenants.ts'
import { isTenantName, MAX_TENANT_LENGTH } from './tenant-name.ts'

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

  has(tenant: string, waits: PendingRequests): MaybePromise<boolean> {
    const names = this.#document.current()
    if (names) return names.has(tenant)
    return waits
      .waitFor(this.#whenLoaded(), () => this.#unavailable())
      .then((late) => late.has(tenant))
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

/** Characters that are read in one piece. That takes a few milliseconds. */
const PIECE_LENGTH = 64 * 1024

/** The characters that may come next. */
type State = 'list' | 'first' | 'comma' | 'name' | 'nothing'

/**
 * The characters outside of strings, and what may follow each. A list of names has no others.
 * Nested values are refused at their first bracket, because JSON.parse takes seconds for 15 MB of
 * brackets.
 */
const NEXT: Readonly<Record<State, ReadonlyMap<string, State>>> = {
  list: new Map([['[', 'first']]),
  first: new Map([
    ['"', 'comma'],
    [']', 'nothing'],
  ]),
  comma: new Map([
    [',', 'name'],
    [']', 'nothing'],
  ]),
  name: new Map([['"', 'comma']]),
  nothing: new Map(),
}

/** RFC 8259 §2. */
const BLANKS: ReadonlySet<string> = new Set(' \t\n\r')

/** Most characters of a name between its quotes, each written as an escape such as `\u0061`. */
const MAX_WRITTEN = 6 * MAX_TENANT_LENGTH

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * The names of a JSON array. It is read piece by piece, and requests are served between two pieces:
 * a list of 16 MiB takes a second in all.
 *
 * @throws Unusable unless it is a list of tenant names, and nothing else
 */
export async function readTenantList(
  text: string,
  pieceLength = PIECE_LENGTH,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  let state: State = 'list'
  let pieceEnd = pieceLength
  for (let i = 0; i < text.length; i++) {
    if (i >= pieceEnd) {
      await setImmediate()
      pieceEnd = i + pieceLength
    }
    const character = text.charAt(i)
    if (BLANKS.has(character)) continue
    state = NEXT[state].get(character) ?? refuse()
    if (character !== '"') continue
    const end = endOfString(text, i)
    names.add(readName(text.slice(i, end + 1)))
    i = end
  }
  return state === 'nothing' ? names : refuse()
}

/** The index of the quote that ends the string at `start`. */
function endOfString(text: string, start: number): number {
  const last = Math.min(start + MAX_WRITTEN + 1, text.length - 1)
  for (let i = start + 1; i <= last; i++) {
    const character = text.charCodeAt(i)
    if (character === QUOTE) return i
    if (character === BACKSLASH) i += 1
  }
  return refuse()
}

function readName(written: string): string {
  let name: unknown
  try {
    name = JSON.parse(written)
  } catch {
    // The text has a control character or a wrong escape, so it is not JSON.
  }
  return isTenantName(name) ? name : refuse()
}

function refuse(): never {
  throw new Unusable('the answer is no JSON array of tenant names')
}
