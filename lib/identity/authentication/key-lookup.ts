import { ERR_AUTH_KEYS_UNAVAILABLE } from '../../errors.ts'
import { withoutStack } from '../../platform/runtime/error.ts'
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import type { VerificationKey } from '../jwks/jwk.ts'
import type { KeySet } from '../jwks/jwk-set.ts'
import type { KeySource } from '../jwks/key-source.ts'
import type { JoseHeader } from '../jwt/compact-jws.ts'
import { mismatch, refuseToken } from '../jwt/refuse-token.ts'

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
 * The key that a token is signed with. A server that names no `kid` rotates its keys too, and then
 * only the signature shows that the key is another: as with an unknown `kid`, a newer set is looked
 * for.
 *
 * @param isSignedBy whether the signature is that of a key
 * @throws ERR_AUTH_TOKEN_INVALID if no key fits, or the signature is of none
 * @throws ERR_AUTH_KEYS_UNAVAILABLE (503) if there are no keys
 */
export function findSigningKey(
  source: KeySource,
  header: JoseHeader,
  isSignedBy: (key: VerificationKey) => boolean,
): MaybePromise<FoundKey> {
  const found = findKey(source, header)
  if (found instanceof Promise) {
    return found.then((late) => signingKey(source, header, isSignedBy, late))
  }
  return signingKey(source, header, isSignedBy, found)
}

function signingKey(
  source: KeySource,
  header: JoseHeader,
  isSignedBy: (key: VerificationKey) => boolean,
  found: FoundKey,
): MaybePromise<FoundKey> {
  if (isSignedBy(found.key)) return found
  if (header.kid !== undefined) throw refuseToken(FORGED)
  return findNewerSigningKey(source, header, isSignedBy, found.keys)
}

/** Reason of a token whose key no set has. */
export const UNKNOWN_KEY = 'the key is unknown'

/** Reason of a forgery, or, without a `kid`, of another key's signature. */
export const FORGED = 'the signature does not match'

async function findNewerSigningKey(
  source: KeySource,
  header: JoseHeader,
  isSignedBy: (key: VerificationKey) => boolean,
  tried: KeySet,
): Promise<FoundKey> {
  const newer = await findNewerKey(source, header, tried)
  if (newer === undefined || !isSignedBy(newer.key)) throw refuseToken(FORGED)
  return newer
}

/**
 * The one key that a token's header chooses. A promise only where there are no keys yet, or where a
 * newer set may have the key that this one lacks.
 *
 * @throws ERR_AUTH_TOKEN_INVALID when no key fits
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
 * @throws ERR_AUTH_TOKEN_INVALID when several keys fit
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
  throw refuseToken(UNKNOWN_KEY, mismatch('kid', tried.kids, header.kid))
}

function findIn(keys: KeySet, header: JoseHeader): FoundKey | undefined {
  const key = keys.find(header)
  if (key === 'unfit') throw refuseToken('no key fits')
  return key === 'unknown' ? undefined : { key, keys }
}
