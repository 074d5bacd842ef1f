/** RFC 3986 §2.3. */
const UNRESERVED = /[A-Za-z0-9._~-]/
const ESCAPED = /%[0-9A-Fa-f]{2}/g
/** A path without escapes and dot segments. It has one spelling. */
const PLAIN = /^(?:\/(?!\.)[\w.~-]*)+$/
/**
 * RFC 9112 §3.2.2, without query and fragment. For routers before find-my-way 9.10 a scheme in
 * upper case is a part of the path, so that the request may reach another route.
 */
const ABSOLUTE_FORM = /^https?:\/\/[^/]+(\/.*)$/

/**
 * The address that clients know the API by, from which `htu` (RFC 9449 §4.2) is expected. What a
 * request says of its host is not part of it: anybody can write that.
 */
export class PublicAddress {
  readonly #origin: string
  readonly #base: string

  /** @param publicUrl what stands before the path of a request; without a slash at its end */
  constructor(publicUrl: string) {
    const { origin, pathname } = new URL(publicUrl)
    this.#origin = origin
    this.#base = pathname === '/' ? '' : pathname
  }

  /**
   * The address of a request, in the form that is compared. Undefined: no proof fits it. A
   * path that a URL parser changes, such as one with `..`, may be another one to the router.
   *
   * @param target the request's target, as it came (RFC 9112 §3.2)
   */
  of(target: string): string | undefined {
    const path = pathOf(target)
    if (path === undefined) return undefined
    // Joined as text, since to resolve it would let a path replace the base, or the host.
    const whole = this.#base + path
    if (PLAIN.test(whole)) return this.#origin + whole
    const address = `${this.#origin}${whole}`
    if (!URL.canParse(address) || new URL(address).pathname !== whole) return undefined
    return this.#origin + comparablePath(whole)
  }
}

/**
 * True: `htu` is an address that `PublicAddress` gave (RFC 9449 §4.3, RFC 3986 §6.2.2, §6.2.3),
 * without query and fragment. The origin is compared without regard to case, the path with.
 */
export function isSameAddress(htu: string, address: string): boolean {
  // The spelling of nearly all clients.
  if (htu === address) return true
  if (!URL.canParse(htu)) return false
  const { origin, pathname, username, password } = new URL(htu)
  // An API is not known by an address with credentials.
  if (username !== '' || password !== '') return false
  return origin + comparablePath(pathname) === address
}

/** Unreserved characters are not escaped, and all other escapes are in upper case. */
function comparablePath(path: string): string {
  return path.replaceAll(ESCAPED, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
    return UNRESERVED.test(character) ? character : escaped.toUpperCase()
  })
}

/** The path of a request's target. Routers end it at the first `?` or `#`. */
function pathOf(target: string): string | undefined {
  const end = target.search(/[?#]/)
  const address = end === -1 ? target : target.slice(0, end)
  return address.startsWith('/') ? address : ABSOLUTE_FORM.exec(address)?.[1]
}
