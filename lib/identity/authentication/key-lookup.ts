import { ERR_AUTH_KEYS_UNAVAILABLE } from '../../errors.ts'
import { withoutStack } from '../../platform/runtime/error.ts'
import { after, type MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import type { VerificationKey } from '../jwks/jwk.ts'
import type { KeySet } from '../jwks/jwk-set.ts'
import type { KeySource } from '../jwks/key-source.ts'
import type { JoseHeader } from '../jwt/jose-header.ts'
import { mismatch, SignatureMismatch, TokenRefused } from '../jwt/token-refused.ts'

export interface FoundKey {
  readonly key: VerificationKey
  /** The set that it was found in. */
  readonly keys: KeySet
}

/**
 * A request whose key is unknown waits for two fetches at most: one that is under way, and one of
 * its own.
 */
const MAX_LOOKS = 2

/**
 * What `prove` makes of the key that a token's header chooses. A server that names no `kid` rotates
 * its keys too, and then only the signature tells that the key is another: as with an unknown
 * `kid`, a newer set is looked for.
 *
 * @throws TokenRefused when no key fits, and what `prove` throws
 * @throws ERR_AUTH_KEYS_UNAVAILABLE (503) when there are no keys
 */
export function withKey<T>(
  source: KeySource,
  header: JoseHeader,
  prove: (found: FoundKey) => T,
): MaybePromise<T> {
  return after(findKey(source, header), (found) => {
    try {
      return prove(found)
    } catch (error) {
      if (!(error instanceof SignatureMismatch) || header.kid !== undefined) throw error
      return proveWithNewer(source, header, prove, { error, tried: found.keys })
    }
  })
}

async function proveWithNewer<T>(
  source: KeySource,
  header: JoseHeader,
  prove: (found: FoundKey) => T,
  { error, tried }: { readonly error: SignatureMismatch; readonly tried: KeySet },
): Promise<T> {
  const newer = await findNewerKey(source, header, tried)
  if (newer === undefined) throw error
  return prove(newer)
}

/**
 * The one key that a token's header chooses. A promise only where there are no keys yet, or where a
 * newer set may have the key that this one lacks.
 *
 * @throws TokenRefused when no key fits
 * @throws ERR_AUTH_KEYS_UNAVAILABLE (503) when there are no keys
 */
function findKey(source: KeySource, header: JoseHeader): MaybePromise<FoundKey> {
  const keys = source.current()
  if (keys === undefined) return whenLoaded(source, header)
  return findIn(keys, header) ?? whenNewer(source, header, keys)
}

/**
 * The key that fits in a newer set than `tried`; undefined where none can be had, or none fits. A
 * look for newer keys is taken once in the cooldown, however many requests ask for it.
 *
 * @throws TokenRefused when several keys fit
 * @throws ERR_AUTH_KEYS_UNAVAILABLE (503) when the keys become too old meanwhile
 */
async function findNewerKey(
  source: KeySource,
  header: JoseHeader,
  tried?: KeySet,
): Promise<FoundKey | undefined> {
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const look = source.lookAgain()
    if (look === undefined) break
    await look
    const keys = source.current()
    if (keys === undefined) throw withoutStack(() => keysUnavailable(source))
    const found = keys === tried ? undefined : findIn(keys, header)
    if (found) return found
  }
  return undefined
}

export function keysUnavailable(source: KeySource): ERR_AUTH_KEYS_UNAVAILABLE {
  return new ERR_AUTH_KEYS_UNAVAILABLE(source.retryAfter, 'no usable key set can be had')
}

async function whenLoaded(source: KeySource, header: JoseHeader): Promise<FoundKey> {
  const keys = await source.settled()
  if (keys === undefined) throw withoutStack(() => keysUnavailable(source))
  return findIn(keys, header) ?? whenNewer(source, header, keys)
}

async function whenNewer(source: KeySource, header: JoseHeader, tried: KeySet): Promise<FoundKey> {
  const found = await findNewerKey(source, header)
  if (found !== undefined) return found
  throw new TokenRefused('the key is unknown', mismatch('kid', tried.kids, header.kid))
}

function findIn(keys: KeySet, header: JoseHeader): FoundKey | undefined {
  const key = keys.find(header)
  if (key === 'unfit') throw new TokenRefused('no key fits')
  return key === 'unknown' ? undefined : { key, keys }
}
