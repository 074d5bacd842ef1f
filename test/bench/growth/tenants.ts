import { compared } from './compared.ts'
import { eachSize } from './each-size.ts'
import { guarded, type Setup } from './guarded.ts'
import { keptBytes } from './kept-bytes.ts'
import { asksOf } from './requests.ts'
import type { Row } from './series.ts'

/** Those that exist. */
export function tenants(setup: Setup): Row {
  return {
    name: 'tenants',
    sizes: [10, 1_000, 100_000],
    async *series(sizes) {
      const asks = await asksOf(setup.authority, 100)
      const built = await eachSize(sizes, async (size) => {
        const names = ['acme', ...Array.from({ length: size - 1 }, (_, i) => `tenant-${i}`)]
        const { made: app, bytes } = await keptBytes(size, () =>
          guarded(setup, { ...setup.authority.options, tenants: names }),
        )
        return { size: `${size}`, app, asks, bytes }
      })
      yield compared('known tenants', built)
    },
  }
}
