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
} as const

export type Route = keyof typeof ROUTES

export const ROUTE_NAMES: readonly Route[] = [
  '/me',
  '/reports',
  '/any',
  '/orders',
  '/invoices',
  '/:tenant/menus',
  '/:tenant/kitchen',
  '/:tenant/undeclared',
]
