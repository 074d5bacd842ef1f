import type { DenyList } from '../../../lib/entrypoints/revocation/index.ts'
import { compared } from './compared.ts'
import { eachSize } from './each-size.ts'
import { guarded, type Setup } from './guarded.ts'
import { keptBytes } from './kept-bytes.ts'
import { asAsked, asksOf } from './requests.ts'
import type { Row, Size } from './series.ts'

export function denyListRow(setup: Setup): Row {
  return {
    name: 'deny-list',
    sizes: [1, 10, 100, 1_000, 10_000, 100_000],
    async *series(sizes) {
      const lists = await eachSize(sizes, filled)
      const named = await asAsked(setup.authority, { serial: 0 })
      const asksBy = {
        'a user whom none names': await asksOf(setup.authority, 1_000, () => ({ sub: 'other' })),
        'a user whom one names': [{ ...named, status: 401 }],
      }
      for (const [who, asks] of Object.entries(asksBy)) {
        const built = lists.map(async ({ size, list, bytes }) => {
          const app = await guarded(setup, { ...setup.authority.options, isRevoked: list })
          return { size, app, asks, bytes }
        })
        yield compared(`entries of a deny list, ${who}`, await Promise.all(built))
      }
      yield { what: 'look-ups in it, against a Map', sizes: lists.map(lookUps), isFlat: true }
    },
  }

  /** A list of so many users. */
  async function filled(size: number) {
    const { made: list, bytes } = await keptBytes(size, async () => {
      const list = setup.denyList()
      for (let i = 0; i < size; i++) await list.add({ sub: `user-${i}` })
      return list
    })
    return { size: `${size}`, count: size, list, bytes }
  }
}

/** Of users whom no entry names. Where a table outgrows the processor's caches, a Map does too. */
function lookUps({ size, count, list }: { size: string; count: number; list: DenyList }): Size {
  const map = new Map(Array.from({ length: count }, (_, i) => [`"user-${i}"`, i]))
  const tokens = Array.from({ length: 1_000 }, (_, i) => ({
    ...{ issuer: 'https://authority.test', sub: `other-${i}`, jti: `token-${i}`, sid: null },
    issuedAt: new Date(),
    expiresAt: new Date(Date.now() + 3_600_000),
  }))
  return {
    size,
    subject(times) {
      for (let i = 0; i < times; i++) for (const token of tokens) list(token, token)
    },
    control(times) {
      for (let i = 0; i < times; i++) for (const { sub } of tokens) map.get(JSON.stringify(sub))
    },
  }
}
