import { guarded, type Setup } from './application.ts'
import { growing, keptBytes } from './compared.ts'
import type { Row } from './measure.ts'
import { asAsked, asking, asksOf } from './requests.ts'

/** What every application has: routes, tenants, and tokens. */
export function everydayRows(setup: Setup): Row[] {
  const { authority } = setup
  const { options } = authority
  return [
    growing('routes', [10, 100, 1_000, 10_000], {
      routes: async (count) => ({
        app: await guarded(setup, options, { count }),
        asks: await asksOf(authority, 100),
      }),
    }),

    growing('tenants', [10, 1_000, 100_000], {
      async 'known tenants'(size) {
        const names = ['acme', ...Array.from({ length: size - 1 }, (_, i) => `tenant-${i}`)]
        const { made: app, bytes } = await keptBytes(size, () =>
          guarded(setup, { ...options, tenants: names }),
        )
        return { app, asks: await asksOf(authority, 100), bytes }
      },
    }),

    growing('tenants-of-token', [1, 10, 100, 1_000], {
      async 'tenants in one token'(size) {
        const tenants = Array.from({ length: size - 1 }, (_, i) => `t${i}`)
        return {
          app: await guarded(setup, { ...options, maxTokenLength: 100_000 }),
          asks: await asksOf(authority, 10, () => ({ tenants })),
        }
      },
    }),

    growing('tokens', [100, 1_000, 10_000, 100_000], {
      async 'kept tokens, all in turn'(size) {
        const asks = await asksOf(authority, size)
        const { made: app, bytes } = await keptBytes(size, async () => {
          const app = await guarded(setup, { ...options, tokenCacheSize: size })
          await asking(app, asks)(size)
          return app
        })
        return { app, asks, bytes }
      },
    }),

    growing('token-size', [512, 1_024, 2_048, 4_096, 8_192, 15_360], {
      async 'the length of a token'(size) {
        const { authorization } = await asAsked(authority, { serial: 0, letters: 0 })
        // Base64url makes four letters of three.
        const letters = Math.max(0, Math.floor(((size - authorization.length) * 3) / 4))
        const asks = await asksOf(authority, setup.tokens, () => ({ letters }))
        const { made: app, bytes } = await keptBytes(asks.length, async () => {
          const app = await guarded(setup, options)
          await asking(app, asks)(asks.length)
          return app
        })
        return { app, asks: asks.slice(0, setup.tokens / 10), bytes }
      },
    }),
  ]
}
