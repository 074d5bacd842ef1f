import { setImmediate } from 'node:timers/promises'
import type { AuthOptions, RouteDeclaration } from '../../../lib/index.ts'
import { guardedConfig } from '../menu-route.ts'
import { boundTokens, PUBLIC_URL } from '../tokens.ts'
import { guarded, queuedFloor, type Setup } from './application.ts'
import { growing, keptBytes } from './compared.ts'
import type { Row } from './measure.ts'
import { asksOf } from './requests.ts'

const LIST = ['acme']
const AMONG = ['menu:read', 'menu:edit']

/** As many places as a function has. */
const inLine = () => queuedFloor(64)

interface Unused {
  /** Of both applications. */
  readonly tenants?: AuthOptions['tenants']
  /** Of the second one. */
  readonly options?: AuthOptions
  /** What another route of the second one declares. */
  readonly other?: RouteDeclaration
}

const UNUSED: Readonly<Record<string, Unused>> = {
  guests: { other: { guests: true } },
  "suspendedTenants: 'read'": {
    tenants: LIST,
    options: { suspendedTenants: 'read' },
    other: { suspended: true },
  },
  'suspended tenants': {
    tenants: LIST,
    options: { tenants: { ids: LIST, suspended: namesOf('old', 1_000) } },
  },
  implies: { options: { implies: { 'admin:all': ['menu:edit'], 'menu:edit': ['a:b'] } } },
  by: { other: { require: { by: () => 'menu:edit', among: AMONG } } },
  checks: { options: { checks: { own: () => true } }, other: { check: 'own' } },
  "confirmation: 'check'": { options: { confirmation: 'check', publicUrl: PUBLIC_URL } },
  stepUp: { other: { stepUp: { maxAge: 300 } } },
  tenantDefault: { options: { tenantDefault: true }, other: { tenant: true } },
  'tenants of open routes': { other: { noauth: true, tenant: 'required' } },
  "undeclared: 'refuse'": { options: { undeclared: 'refuse' }, other: { require: false } },
}

/** Options that are there, and that the route which is asked for does not use. */
export function unusedOptions(setup: Setup): Row {
  const { authority } = setup
  const ways = Object.entries(UNUSED).map(([what, { tenants, options, other }]) => {
    const common = { ...authority.options, ...(tenants && { tenants }) }
    const build = async (size: number) => ({
      app:
        size === 0
          ? await guarded(setup, common)
          : await guarded(setup, { ...common, ...options }, { ...(other && { other }) }),
      asks: await asksOf(authority, 100),
    })
    return [`${what}, unused`, build]
  })
  return growing('options', [0, 1], Object.fromEntries(ways))
}

/** Options that the route uses which is asked for, with more and more in them. */
export function usedOptions(setup: Setup): Row[] {
  const { authority } = setup
  const { options } = authority
  const asks = () => asksOf(authority, 100)
  return [
    growing('guests', [10, 100, 1_000], {
      async 'routes for guests, a user'(count) {
        const config = { tenant: 'required', userInfo: true, guests: true } as const
        return { app: await guarded(setup, options, { count, config }), asks: await asks() }
      },
      async 'routes for guests, a guest'(count) {
        const config = { tenant: 'required', userInfo: true, guests: true } as const
        const guest = { url: '/acme/menu', authorization: Buffer.from(''), status: 200 }
        return { app: await guarded(setup, options, { count, config }), asks: [guest] }
      },
    }),

    growing('suspended', [10, 1_000, 100_000], {
      async 'suspended tenants, another one'(size) {
        const tenants = { ids: LIST, suspended: namesOf('old', size) }
        const { made: app, bytes } = await keptBytes(size, () =>
          guarded(setup, { ...options, tenants }),
        )
        return { app, asks: await asks(), bytes }
      },
      async 'suspended tenants, one of them'(size) {
        const tenants = { ids: LIST, suspended: [...LIST, ...namesOf('old', size - 1)] }
        const app = await guarded(setup, { ...options, tenants })
        return { app, asks: (await asks()).map((ask) => ({ ...ask, status: 403 })) }
      },
    }),

    growing('implies', [1, 10, 100, 1_000], {
      async 'resources that one implies'(size) {
        const ids = ['menu:read', ...namesOf('a:b', size - 1)]
        return {
          app: await guarded(setup, { ...options, implies: { 'admin:all': ids } }),
          asks: await asksOf(authority, 100, () => ({ rights: ['admin:all'] })),
        }
      },
      async 'resources that imply others'(size) {
        const others = namesOf('a:b', size - 1).map((id) => [id, ['menu:edit']])
        const implies = { 'admin:all': ['menu:read'], ...Object.fromEntries(others) }
        return {
          app: await guarded(setup, { ...options, implies }),
          asks: await asksOf(authority, 100, () => ({ rights: ['admin:all'] })),
        }
      },
    }),

    growing('checks', [1, 10, 100, 1_000], {
      async 'named checks, one of the route'(size) {
        const checks = Object.fromEntries(namesOf('own', size).map((name) => [name, () => true]))
        const config = { ...guardedConfig, check: 'own-0' }
        return { app: await guarded(setup, { ...options, checks }, { config }), asks: await asks() }
      },
    }),

    growing('bound', [1_000, 10_000, 100_000], {
      async 'proofs that were seen'(size) {
        const { authorizations, proofs } = await boundTokens(authority, 'ES256', '/acme/menu', 100)
        const { made: table, bytes } = await keptBytes(size, async () => {
          const table = setup.proofTable({ max: 5_000_000 })
          const until = new Date(Date.now() + 600_000)
          for (let i = 0; i < size; i++) table(`${i}`.padStart(43, '-'), until)
          return table
        })
        // The proofs come again and again. To the table each is a new one.
        let serial = 0
        const app = await guarded(setup, {
          ...options,
          ...{ confirmation: 'check', publicUrl: PUBLIC_URL, proofMaxAge: 600 },
          proofSeen: (key, until) => table(`${key.slice(0, 44)}${serial++}`, until),
        })
        const bound = proofs.map((proof, i) => ({
          ...{ url: '/acme/menu', proof, status: 200 },
          authorization: Buffer.from(authorizations[i] ?? ''),
        }))
        return { app, asks: bound, bytes }
      },
    }),

    growing('addresses', [1, 10, 100, 1_000], {
      async 'addresses in one token'(size) {
        const audience = [...LIST, ...namesOf('tenant', size - 1)].map(addressOf)
        return {
          app: await guarded(setup, { ...addressed(setup), maxTokenLength: 100_000 }),
          asks: await asksOf(authority, 10, () => ({ audience })),
        }
      },
      async 'tenants by their addresses, in turn'(size) {
        return {
          app: await guarded(setup, addressed(setup)),
          asks: await asksOf(authority, size, (i) => {
            const tenant = `tenant-${i}`
            return { tenant, audience: addressOf(tenant) }
          }),
        }
      },
    }),

    growing('late', [1, 10, 100, 1_000], {
      async 'late routes'(count) {
        const late = { url: '/menu', config: { ...guardedConfig, late: true }, count } as const
        const app = await guarded(setup, { ...options, resolveTenant: () => 'acme' }, late)
        return { app, asks: (await asks()).map((ask) => ({ ...ask, url: '/menu' })) }
      },
    }),

    // All of a size ask at once. 64 have places, and most of them wait, here for up to a minute; on
    // the floor, too.
    growing('lines', [512, 750, 1_000], {
      async 'requests at once, under resourcesOf'(atOnce) {
        const app = await guarded(setup, {
          ...options,
          ...{ resourcesMaxAge: 1e-9, tenantsTimeout: 60 },
          async resourcesOf() {
            await setImmediate()
            return { acme: ['menu:read'] }
          },
        })
        return { app, asks: await asksOf(authority, 1_000), atOnce, beside: inLine }
      },
      async 'requests at once, under checks'(atOnce) {
        const config = { ...guardedConfig, check: 'own' }
        const checks = { own: () => setImmediate(true) }
        const app = await guarded(setup, { ...options, checks, tenantsTimeout: 60 }, { config })
        return { app, asks: await asksOf(authority, 1_000), atOnce, beside: inLine }
      },
    }),
  ]
}

function namesOf(head: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${head}-${i}`)
}

function addressOf(tenant: string): string {
  return `${PUBLIC_URL}/${tenant}/menu`
}

/** An address for each tenant in place of an audience. */
function addressed({ authority }: Setup): AuthOptions {
  const { publicKeys, issuer } = authority.options
  return { publicKeys, issuer, resource: addressOf(':tenant') }
}
