import { ERR_AUTH_KEYS_UNAVAILABLE } from '../../errors.ts'
import { withoutStack } from '../../platform/runtime/error.ts'
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import type { VerificationKey } from '../jwks/jwk.ts'
import type { KeySet } from '../jwks/jwk-set.ts'
import type { KeySource } from '../jwks/key-source.ts'
import type { JoseHeader } from '../jwt/compact-jws.ts'
import { mismatch, tokenRefusal } from '../jwt/token-refusal.ts'

/**
 * A request whose key is unknown waits for two fetches at most: one that is under way, and one of
 * its own.
 */
const MAX_LOOKS = 2

/** A token whose key is looked for. */
interface SignedToken {
  readonly header: JoseHeader
  isSignedBy(key: VerificationKey): boolean
}

/**
 * The key set whose key a token is signed with; a promise only if there are no keys yet, or
 * if a newer set may have the key that this one lacks. A server that names no `kid` rotates its
 * keys too, and then only the signature shows that the key is another: as with an unknown `kid`, a
 * newer set is looked for.
 *
 * @throws ERR_AUTH_TOKEN_INVALID if no key fits, or the signature is of none
 * @throws ERR_AUTH_KEYS_UNAVAILABLE (503) if there are no keys
 */
export function findSigningKeys(source: KeySource, token: SignedToken): MaybePromise<KeySet> {
  const keys = source.current()
  return keys === undefined ? whenLoaded(source, token) : signingKeys(source, token, keys)
}

function signingKeys(source: KeySource, token: SignedToken, keys: KeySet): MaybePromise<KeySet> {
  const key = keyIn(keys, token.header)
  if (key === undefined) return whenNewer(source, token, keys, false)
  if (token.isSignedBy(key)) return keys
  if (token.header.kid !== undefined) throw tokenRefusal(FORGED)
  return whenNewer(source, token, keys, true)
}

/** Reason of a token whose key no set has. */
export const UNKNOWN_KEY = 'the key is unknown'

/** Reason of a forgery, or, without a `kid`, of another key's signature. */
export const FORGED = 'the signature does not match'

async function whenLoaded(source: KeySource, token: SignedToken): Promise<KeySet> {
  const keys = await source.settled()
  if (keys === undefined) throw withoutStack(() => keysUnavailable(source))
  return signingKeys(source, token, keys)
}

/**
 * A look for newer keys is taken once in the cooldown, however many requests ask for it.
 *
 * @param isForged whether `tried` has a key that fits, and the signature is not of it
 * @throws ERR_AUTH_TOKEN_INVALID when several keys fit
 * @throws ERR_AUTH_KEYS_UNAVAILABLE (503) when the keys become too old meanwhile
 */
async function whenNewer(
  source: KeySource,
  token: SignedToken,
  tried: KeySet,
  isForged: boolean,
): Promise<KeySet> {
  const { header } = token
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const look = source.lookAgain()
    if (look === undefined) break
    await look
    const keys = source.current()
    if (keys === undefined) throw withoutStack(() => keysUnavailable(source))
    const key = isForged && keys === tried ? undefined : keyIn(keys, header)
    if (key === undefined) continue
    if (!isForged) return signingKeys(source, token, keys)
    if (token.isSignedBy(key)) return keys
    break
  }
  if (isForged) throw tokenRefusal(FORGED)
  throw tokenRefusal(UNKNOWN_KEY, mismatch('kid', tried.kids, header.kid))
}

export function keysUnavailable(source: KeySource): ERR_AUTH_KEYS_UNAVAILABLE {
  return new ERR_AUTH_KEYS_UNAVAILABLE(source.retryAfter, 'no usable key set can be had')
}

/** Undefined: a newer set may have it. */
function keyIn(keys: KeySet, header: JoseHeader): VerificationKey | undefined {
  const key = keys.find(header)
  if (key === 'unfit') throw tokenRefusal('no key fits')
  return key === 'unknown' ? undefined : key
}
