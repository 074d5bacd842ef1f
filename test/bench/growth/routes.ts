import { compared } from './compared.ts'
import { eachSize } from './each-size.ts'
import { guarded, type Setup } from './guarded.ts'
import { asksOf } from './requests.ts'
import type { Row } from './series.ts'

export function routes(setup: Setup): Row {
  return {
    name: 'routes',
    sizes: [10, 100, 1_000, 10_000],
    async *series(sizes) {
      const asks = await asksOf(setup.authority, 100)
      const built = await eachSize(sizes, async (size) => {
        return { size: `${size}`, app: await guarded(setup, setup.authority.options, size), asks }
      })
      yield compared('routes', built)
    },
  }
}
