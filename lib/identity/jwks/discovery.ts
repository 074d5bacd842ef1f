import { FetchFailure, reasonOf, Unusable } from '../../platform/http/failure.ts'
import { type FetchLimits, fetchJson } from '../../platform/http/fetch-json.ts'
import { NO_PLACE } from '../../platform/http/fetch-places.ts'
import { isSecureUrl } from '../../platform/http/urls.ts'
import { clock } from '../../platform/runtime/clock.ts'
import { isObject, ownProperty } from '../../platform/runtime/own-property.ts'

/** Milliseconds for which an address is used before the metadata is read again. */
const KNOWN_FOR = 3600_000

/**
 * Whether an issuer can be discovered: an https URL, or http that stays on this machine, without
 * credentials, query and fragment (OpenID Connect Discovery 1.0 §3, RFC 8414 §2).
 */
export function isDiscoverable(issuer: string): boolean {
  return isSecureUrl(issuer) && !/[?#]/.test(issuer)
}

/** The address of an issuer's keys, by its own metadata. */
export class Discovery {
  readonly #issuer: string
  #known: { readonly jwksUri: string; readonly readAt: number } | undefined

  constructor(issuer: string) {
    this.#issuer = issuer
  }

  get url(): string {
    return openidMetadata(this.#issuer)
  }

  /**
   * The result of `read` for the `jwks_uri`. One that has brought something is used for an hour;
   * one that has not is looked for anew.
   *
   * @throws Unusable, and what `read` throws
   */
  async locate<T>(limits: FetchLimits, read: (jwksUri: string) => Promise<T>): Promise<T> {
    const known = this.#known
    if (known && clock.now() - known.readAt < KNOWN_FOR) return read(known.jwksUri)
    const readAt = clock.now()
    const jwksUri = await discover(this.#issuer, limits)
    const value = await read(jwksUri)
    this.#known = { jwksUri, readAt }
    return value
  }
}

async function discover(issuer: string, limits: FetchLimits): Promise<string> {
  if (!isDiscoverable(issuer)) throw new Unusable('the issuer is no https URL to discover it at')
  return jwksUriOf(await readMetadata(issuer, limits), issuer)
}

/**
 * Takes the metadata of an issuer only. The member `issuer` must be what was asked for, to the
 * letter: otherwise one server could speak for another (OpenID Connect Discovery 1.0 §4.3, RFC 8414
 * §3.3).
 *
 * @throws Unusable
 */
export function assertMetadataOf(issuer: string, metadata: unknown): asserts metadata is object {
  if (!isObject(metadata)) throw new Unusable('the discovery document is no object')
  if (ownProperty(metadata, 'issuer') !== issuer) {
    throw new Unusable('the discovery document is of another issuer')
  }
}

/**
 * The `jwks_uri` in the metadata of an issuer.
 *
 * @throws Unusable
 */
export function jwksUriOf(metadata: unknown, issuer: string): string {
  assertMetadataOf(issuer, metadata)
  const jwksUri = ownProperty(metadata, 'jwks_uri')
  if (typeof jwksUri !== 'string') throw new Unusable('the discovery document has no jwks_uri')
  if (!isSecureUrl(jwksUri))
    throw new Unusable('the discovered jwks_uri is no https URL that can be used')
  return jwksUri
}

/**
 * Metadata that is not believed before `assertMetadataOf`.
 *
 * @throws Unusable
 */
export function readMetadata(issuer: string, limits: FetchLimits): Promise<unknown> {
  return metadataBy((url) => fetchJson(url, limits), issuer).catch((error: unknown) => {
    // The server was not asked, which says nothing of it.
    if (reasonOf(error) === NO_PLACE) throw error
    throw new Unusable(`no discovery document: ${reasonOf(error)}`)
  })
}

/**
 * The same by a way of one's own.
 *
 * @param read reads the JSON document at an address
 * @throws what `read` throws
 */
export async function metadataBy(
  read: (url: string) => Promise<unknown>,
  issuer: string,
): Promise<unknown> {
  try {
    return await read(openidMetadata(issuer))
  } catch (error) {
    if (!(error instanceof FetchFailure && error.status === 404)) throw error
  }
  return read(oauthMetadata(issuer))
}

/** The well-known part stands at the end (OpenID Connect Discovery 1.0 §4.1). */
function openidMetadata(issuer: string): string {
  return `${withoutSlash(issuer)}/.well-known/openid-configuration`
}

/** The well-known part stands between host and path (RFC 8414 §3.1). */
function oauthMetadata(issuer: string): string {
  const { origin, pathname } = new URL(issuer)
  return `${origin}/.well-known/oauth-authorization-server${withoutSlash(pathname)}`
}

function withoutSlash(text: string): string {
  return text.replace(/\/$/, '')
}
