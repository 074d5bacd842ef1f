/**
 * What is known of a token that is no JWT.
 *
 * - An object: its claims. They are checked as those of a JWT are.
 * - A string: a JWT in its place, which is verified as if it had come itself.
 * - `null`: the token is not valid. It is answered with 401.
 */
export type OpaqueAnswer = Readonly<Record<string, unknown>> | string | null

/**
 * Asks about a token that is no JWT. Called only for tokens in the characters of RFC
 * 6750 §2.1, of at most `maxTokenLength`.
 *
 * @throws anything where the question cannot be decided now, which is answered with 503
 */
export type OpaqueToken = (token: string) => OpaqueAnswer | Promise<OpaqueAnswer>
