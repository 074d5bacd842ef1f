import type { AuthOptions, RouteDeclaration } from '../../../lib/index.ts'
import { compared } from './compared.ts'
import { eachSize } from './each-size.ts'
import { guarded, type Setup } from './guarded.ts'
import { asksOf } from './requests.ts'
import type { Row } from './series.ts'

interface Way {
  readonly what: string
  /** Of both applications. */
  readonly tenants?: AuthOptions['tenants']
  /** Of the second one. */
  readonly options?: AuthOptions
  /** What another route of the second one declares. */
  readonly other?: RouteDeclaration
}

const LIST = ['acme']
const OLD = Array.from({ length: 1_000 }, (_, i) => `old-${i}`)
const AMONG = ['menu:read', 'menu:edit']

const WAYS: readonly Way[] = [
  { what: 'guests', other: { guests: true } },
  {
    what: "suspendedTenants: 'read'",
    tenants: LIST,
    options: { suspendedTenants: 'read' },
    other: { suspended: true },
  },
  {
    what: 'suspended tenants',
    tenants: LIST,
    options: { tenants: { ids: LIST, suspended: OLD } },
  },
  { what: 'implies', options: { implies: { 'admin:all': ['menu:edit'], 'menu:edit': ['a:b'] } } },
  { what: 'by', other: { require: { by: () => 'menu:edit', among: AMONG } } },
  { what: 'checks', options: { checks: { own: () => true } }, other: { check: 'own' } },
]

/** Options that are there, and that the route which is asked for does not use. */
export function everydayOptions(setup: Setup): Row {
  return {
    name: 'options',
    sizes: [0, 1],
    async *series(sizes) {
      const asks = await asksOf(setup.authority, 100)
      for (const { what, tenants, options, other } of WAYS) {
        const common = { ...setup.authority.options, ...(tenants && { tenants }) }
        const built = await eachSize(sizes, async (size) => {
          const [given, further] = size === 0 ? [] : [options, other]
          const app = await guarded(setup, { ...common, ...given }, 1, further)
          return { size: `${size}`, app, asks }
        })
        yield compared(`${what}, unused`, built)
      }
    },
  }
}
