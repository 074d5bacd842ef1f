import { compared } from './compared.ts'
import { eachSize } from './each-size.ts'
import { guarded, type Setup } from './guarded.ts'
import { keptBytes } from './kept-bytes.ts'
import { asAsked, asking, asksOf } from './requests.ts'
import type { Row } from './series.ts'

export function tokenSize(setup: Setup): Row {
  return {
    name: 'token-size',
    sizes: [512, 1_024, 2_048, 4_096, 8_192, 15_360],
    async *series(sizes) {
      yield compared('the length of a token', await eachSize(sizes, build))
    },
  }

  async function build(size: number) {
    const { authority } = setup
    const { authorization } = await asAsked(authority, { serial: 0, letters: 0 })
    // Base64url makes four letters of three.
    const letters = Math.max(0, Math.floor(((size - authorization.length) * 3) / 4))
    const asks = await asksOf(authority, setup.tokens, () => ({ letters }))
    const { made: app, bytes } = await keptBytes(asks.length, async () => {
      const app = await guarded(setup, authority.options)
      await asking(app, asks)(asks.length)
      return app
    })
    return { size: `${size}`, app, asks: asks.slice(0, setup.tokens / 10), bytes }
  }
}
