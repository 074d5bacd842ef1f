import { compared } from './compared.ts'
import { eachSize } from './each-size.ts'
import { guarded, type Setup } from './guarded.ts'
import { asksOf } from './requests.ts'
import type { Row } from './series.ts'

/** Those that one user may act for. */
export function tenantsOfToken(setup: Setup): Row {
  return {
    name: 'tenants-of-token',
    sizes: [1, 10, 100, 1_000],
    async *series(sizes) {
      const built = await eachSize(sizes, async (size) => {
        const names = Array.from({ length: size - 1 }, (_, i) => `t${i}`)
        const app = await guarded(setup, { ...setup.authority.options, maxTokenLength: 100_000 })
        return {
          size: `${size}`,
          app,
          asks: await asksOf(setup.authority, 10, () => ({ tenants: names })),
        }
      })
      yield compared('tenants in one token', built)
    },
  }
}
