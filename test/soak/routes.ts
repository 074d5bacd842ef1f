import type { FastifyRequest } from 'fastify'

/** Says what it wants in `says`, which the oracle knows. */
const wanted = ({ query }: FastifyRequest): string => String(Object(query).says)

/** The routes of the applications, by what they declare. */
export const ROUTES = {
  '/me': { userInfo: true },
  '/reports': { require: 'report:read' },
  '/any': { require: { any: ['menu:read', 'report:read'] } },
  '/orders': { tenant: 'optional' },
  '/invoices': { tenant: 'required', require: ['menu:read'] },
  '/:tenant/menus': { tenant: 'required' },
  '/:tenant/kitchen': { tenant: true, require: ['menu:read', 'menu:write'] },
  '/:tenant/undeclared': {},
  '/:tenant/billing': { tenant: 'required', suspended: true },
  '/:tenant/card': { tenant: 'required', guests: true },
  '/:tenant/shop': { tenant: 'required', noauth: true },
  '/:tenant/edit': { require: { by: wanted, among: ['menu:read', 'menu:write'] } },
  '/:tenant/owned': { tenant: 'required', check: 'owner' },
  '/:tenant/vault': { require: 'menu:read', stepUp: { acr: 'phr', maxAge: 30 } },
  '/late': { tenant: 'required', late: true, require: 'menu:read' },
} as const

/** Asks `authenticate()` for the tenant in its body, and for `menu:read`. */
export const CALL = '/call'

export const LOGOUT_ROUTE = '/backchannel-logout'

export type GuardedRoute = keyof typeof ROUTES

export type Route = GuardedRoute | typeof CALL | typeof LOGOUT_ROUTE

/** What may be read of a declaration. */
export interface Declared {
  readonly userInfo?: true
  readonly tenant?: 'required' | 'optional' | true
  readonly require?: string | readonly string[] | { readonly any: readonly string[] } | Among
  readonly suspended?: true
  readonly guests?: true
  readonly noauth?: true
  readonly check?: string
  readonly stepUp?: { readonly acr: string; readonly maxAge: number }
  readonly late?: true
}

interface Among {
  readonly by: unknown
  readonly among: readonly string[]
}

export function declaredOf(route: Route): Declared {
  if (route === CALL) return { tenant: 'optional', require: 'menu:read' }
  return route === LOGOUT_ROUTE ? {} : ROUTES[route]
}

export const ROUTE_NAMES = Object.keys(ROUTES).filter(
  (name): name is GuardedRoute => name in ROUTES,
)

/** What a check may be asked to do. */
export const CHECKS = ['yes', 'no', 'throws', 'hangs'] as const
