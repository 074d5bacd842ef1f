/** What stands behind a token that is no JWT: its claims, a JWT in its place, or null: nothing. */
export type OpaqueAnswer = Readonly<Record<string, unknown>> | string | null

/** Finds out what stands behind a token that is no JWT. */
export type OpaqueToken = (token: string) => OpaqueAnswer | Promise<OpaqueAnswer>
