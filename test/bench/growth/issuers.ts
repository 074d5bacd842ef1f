import type { AuthOptions } from '../../../lib/index.ts'
import { type Built, compared } from './compared.ts'
import { eachSize } from './each-size.ts'
import { guarded, type Setup } from './guarded.ts'
import { keptBytes } from './kept-bytes.ts'
import { asking, asksOf } from './requests.ts'
import type { Row } from './series.ts'

type Known = (count: number, setup: Setup) => AuthOptions

const KNOWN: Readonly<Record<string, Known>> = {
  'issuers of a list': (count, { authority }) => ({
    issuers: Array.from({ length: count }, (_, i) => {
      return { ...authority.issuerRules({ tenants: '*' }), issuer: nameOf(i) }
    }),
  }),
  'issuers by a function': (count, { authority: { publicKeys, audience } }) => {
    const names = new Set(Array.from({ length: count }, (_, i) => nameOf(i)))
    const rules = { publicKeys, audience, tenants: '*' } as const
    return { issuers: (issuer) => (names.has(issuer) ? rules : null) }
  },
}

interface Way {
  readonly what: string
  readonly tokenCacheSize: number
  readonly status: number
  /** Whose token it is. */
  issuerOf(serial: number, size: number): string
}

const WAYS: readonly Way[] = [
  { what: 'warm', tokenCacheSize: 10_000, status: 200, issuerOf: (i, size) => nameOf(i % size) },
  { what: 'cold', tokenCacheSize: 0, status: 200, issuerOf: (i, size) => nameOf(i % size) },
  { what: 'not trusted', tokenCacheSize: 0, status: 401, issuerOf: () => 'https://stranger.test' },
]

export function issuers(setup: Setup): Row {
  return {
    name: 'issuers',
    sizes: [1, 10, 100, 1_000],
    async *series(sizes) {
      for (const [kind, known] of Object.entries(KNOWN)) {
        for (const way of WAYS) {
          const built = await eachSize(sizes, (size) => build(known, way, size))
          yield compared(`${kind}, ${way.what}`, built)
        }
      }
    },
  }

  async function build(known: Known, way: Way, size: number): Promise<Built> {
    const { authority } = setup
    const { tokenCacheSize, status } = way
    const ofEach = await asksOf(authority, size, (i) => ({ issuer: nameOf(i), letters: 0 }))
    const asks = await asksOf(authority, 20, (i) => ({ issuer: way.issuerOf(i, size) }))
    const { made: app, bytes } = await keptBytes(size, async () => {
      const app = await guarded(setup, { ...known(size, setup), tokenCacheSize })
      // What an issuer has is made when its first token comes.
      await asking(app, ofEach)(size)
      return app
    })
    return { size: `${size}`, app, asks: asks.map((ask) => ({ ...ask, status })), bytes }
  }
}

function nameOf(i: number): string {
  return `https://issuer-${i}.test`
}
