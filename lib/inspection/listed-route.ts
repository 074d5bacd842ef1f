/** One route, as `authService.routes()` lists it. */
export interface ListedRoute {
  readonly method: string
  readonly url: string
  /** Null if the policy is not known. */
  readonly noauth: boolean | null
  /** Where the tenant stands. Null: nowhere, or the policy is not known. */
  readonly tenant: 'path' | 'query' | 'optional' | null
  /**
   * The ids that must be held: all of a list, or any of it. Null: no ids, or the policy is not
   * known.
   */
  readonly require: readonly string[] | { readonly any: readonly string[] } | null
  /**
   * False for a route that was written before the plugin had loaded. It is guarded, and read
   * strictly.
   */
  readonly seen: boolean
  /** Whether the route declares `userInfo`. Null if the policy is not known. */
  readonly userInfo: boolean | null
  /** Whether the route declares `resources`. Null if the policy is not known. */
  readonly resources: boolean | null
  /** Whether the route declares `authorization`. Null if the policy is not known. */
  readonly authorization: boolean | null
}
