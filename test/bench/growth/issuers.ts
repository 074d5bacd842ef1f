import type { AuthOptions } from '../../../lib/index.ts'
import { guarded, type Setup } from './application.ts'
import { type Build, growing, keptBytes } from './compared.ts'
import type { Row } from './measure.ts'
import { asking, asksOf } from './requests.ts'

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
    return { issuers: (issuer) => (names.has(issuer) ? rules : null), issuersMax: count }
  },
}

interface Way {
  readonly tokenCacheSize: number
  readonly status: number
  /** Whose token it is. */
  issuerOf(serial: number, size: number): string
}

const WAYS: Readonly<Record<string, Way>> = {
  warm: { tokenCacheSize: 20_000, status: 200, issuerOf: (i, size) => nameOf(i % size) },
  cold: { tokenCacheSize: 0, status: 200, issuerOf: (i, size) => nameOf(i % size) },
  'not trusted': { tokenCacheSize: 0, status: 401, issuerOf: () => 'https://stranger.test' },
}

export function issuers(setup: Setup): Row {
  const ways = Object.entries(KNOWN).flatMap(([kind, known]) =>
    Object.entries(WAYS).map(([what, way]) => [`${kind}, ${what}`, building(known, way)] as const),
  )
  return growing('issuers', [1, 10, 100, 1_000, 10_000], Object.fromEntries(ways))

  function building(known: Known, { tokenCacheSize, status, issuerOf }: Way): Build {
    return async (size) => {
      const { authority } = setup
      const ofEach = await asksOf(authority, size, (i) => ({ issuer: nameOf(i), letters: 0 }))
      const asks = await asksOf(authority, 20, (i) => ({ issuer: issuerOf(i, size) }))
      const { made: app, bytes } = await keptBytes(size, async () => {
        const app = await guarded(setup, { ...known(size, setup), tokenCacheSize })
        // What an issuer has is made when its first token comes.
        await asking(app, ofEach)(size)
        return app
      })
      return { app, asks: asks.map((ask) => ({ ...ask, status })), bytes }
    }
  }
}

function nameOf(i: number): string {
  return `https://issuer-${i}.test`
}
