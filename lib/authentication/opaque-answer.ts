/**
 * What a token that is no JWT stands for. An object: its claims, checked as those of a JWT are. A
 * string: a JWT, verified in its place. `null`: nothing, and the request is refused with 401.
 */
export type OpaqueAnswer = Readonly<Record<string, unknown>> | string | null

/**
 * Asked for a token that is no JWT, such as an API key, or one to be introspected (RFC 7662).
 *
 * @param token at most `maxTokenLength` characters, of those that RFC 6750 §2.1 allows
 */
export type OpaqueToken = (token: string) => OpaqueAnswer | Promise<OpaqueAnswer>
