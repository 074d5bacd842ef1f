import { ERR_AUTH_KEYS_UNAVAILABLE } from '../errors.ts'
import { withoutStack } from '../remote/without-stack.ts'
import type { JoseHeader } from './jose-header.ts'
import type { VerificationKey } from './json-web-key.ts'
import type { KeySet } from './key-set.ts'
import type { KeySource } from './key-source.ts'
import { TokenRefused } from './token-refused.ts'

export interface FoundKey {
  readonly key: VerificationKey
  /** The set that it was found in. */
  readonly keys: KeySet
}

/** How often one request may wait for keys that its token names and the set lacks: for a fetch under way, then for one of its own. */
const MAX_LOOKS = 2

/**
 * The one key that a token's header chooses. A promise only where there are no keys yet, or where a newer set may
 * have the key that this one lacks.
 *
 * @throws TokenRefused when no key fits
 * @throws ERR_AUTH_KEYS_UNAVAILABLE (503) when there are no keys
 */
export function findKey(source: KeySource, header: JoseHeader): FoundKey | Promise<FoundKey> {
  const keys = source.current()
  if (keys === undefined) return whenLoaded(source, header)
  return findIn(keys, header) ?? inNewerKeys(source, header)
}

export function keysUnavailable(source: KeySource): ERR_AUTH_KEYS_UNAVAILABLE {
  return new ERR_AUTH_KEYS_UNAVAILABLE(source.retryAfter, 'no usable key set can be had')
}

async function whenLoaded(source: KeySource, header: JoseHeader): Promise<FoundKey> {
  const keys = await source.settled()
  if (keys === undefined) throw withoutStack(() => keysUnavailable(source))
  return findIn(keys, header) ?? inNewerKeys(source, header)
}

async function inNewerKeys(source: KeySource, header: JoseHeader): Promise<FoundKey> {
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const look = source.lookAgain()
    if (look === undefined) break
    await look
    const keys = source.current()
    if (keys === undefined) throw withoutStack(() => keysUnavailable(source))
    const found = findIn(keys, header)
    if (found) return found
  }
  throw new TokenRefused('the key is unknown', {
    of: 'kid',
    expected: source.current()?.kids ?? [],
    found: header.kid,
  })
}

function findIn(keys: KeySet, header: JoseHeader): FoundKey | undefined {
  const key = keys.find(header)
  if (key === 'unfit') throw new TokenRefused('no key fits')
  return key === 'unknown' ? undefined : { key, keys }
}
