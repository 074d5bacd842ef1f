import { compared } from './compared.ts'
import { eachSize } from './each-size.ts'
import { guarded, type Setup } from './guarded.ts'
import { keptBytes } from './kept-bytes.ts'
import { asking, asksOf } from './requests.ts'
import type { Row } from './series.ts'

/** Tokens that are kept, which come in turn. */
export function tokens(setup: Setup): Row {
  return {
    name: 'tokens',
    sizes: [100, 1_000, 10_000, 100_000],
    async *series(sizes) {
      const all = await asksOf(setup.authority, Math.max(...sizes))
      const built = await eachSize(sizes, async (size) => {
        const asks = all.slice(0, size)
        const { made: app, bytes } = await keptBytes(size, async () => {
          const app = await guarded(setup, { ...setup.authority.options, tokenCacheSize: size })
          await asking(app, asks)(size)
          return app
        })
        return { size: `${size}`, app, asks, bytes }
      })
      yield compared('kept tokens, all in turn', built)
    },
  }
}
