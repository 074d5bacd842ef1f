/** What a document tells of a route's policy. */
export interface DocumentedPolicy {
  /** No authentication. */
  readonly noauth: boolean
  /** Where the tenant stands. */
  readonly tenant: 'path' | 'query' | null
  /** Whether a request may name no tenant where it stands in the query. */
  readonly mayBeAbsent: boolean
  /** What must be held; null: no requirement. */
  readonly requirement: object | null
  readonly declared: { readonly authorization: boolean }
}

/** A route as it may be found in a document. */
export interface DocumentedRoute {
  readonly methods: readonly string[]
  readonly url: string
  readonly policy: DocumentedPolicy
  /** False: the url is in the router's own spelling. */
  readonly seen: boolean
}
