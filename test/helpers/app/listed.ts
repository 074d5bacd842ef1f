import type { ConstrainedRoute } from '../../../lib/routes/route-list.ts'

/** A guarded GET route, with what is said of it otherwise. */
export function listed(url: string, more: Partial<ConstrainedRoute> = {}): ConstrainedRoute {
  return {
    method: 'GET',
    url,
    noauth: false,
    tenant: null,
    require: null,
    seen: true,
    userInfo: false,
    resources: false,
    authorization: false,
    ...more,
  }
}

/** A route that was written before the plugin had loaded. */
export function unknown(url: string): ConstrainedRoute {
  const policy = { noauth: null, userInfo: null, resources: null, authorization: null }
  return listed(url, { ...policy, seen: false })
}
