import type { DenyList } from '../../../lib/entrypoints/revocation/index.ts'
import { guarded, type Setup } from './application.ts'
import { compared, keptBytes, type Made } from './compared.ts'
import type { Row, Size } from './measure.ts'
import { asAsked, asksOf } from './requests.ts'

export function denyListRow(setup: Setup): Row {
  return {
    name: 'deny-list',
    sizes: [1, 10, 100, 1_000, 10_000, 100_000],
    async *series(sizes) {
      const lists = new Map<number, Made<DenyList>>()
      // One after the other, for the sake of the memory that is measured.
      for (const size of sizes) lists.set(size, await filled(size))
      const named = await asAsked(setup.authority, { serial: 0 })
      const asksBy = {
        'a user whom none names': await asksOf(setup.authority, 1_000, () => ({ sub: 'other' })),
        'a user whom one names': [{ ...named, status: 401 }],
      }
      for (const [who, asks] of Object.entries(asksBy)) {
        yield await compared(`entries of a deny list, ${who}`, sizes, async (size) => {
          const { made: isRevoked, bytes } = lists.get(size) ?? (await filled(size))
          const app = await guarded(setup, { ...setup.authority.options, isRevoked })
          return { app, asks, bytes }
        })
      }
      const looked = [...lists].map(([size, { made }]) => lookUps(size, made))
      yield { what: 'look-ups in it, against a Map', sizes: looked, isFlat: true }
    },
  }

  /** A list of so many users. */
  function filled(size: number): Promise<Made<DenyList>> {
    return keptBytes(size, async () => {
      const list = setup.denyList()
      for (let i = 0; i < size; i++) await list.add({ sub: `user-${i}` })
      return list
    })
  }
}

/** Of users whom no entry names. Where a table outgrows the processor's caches, a Map does too. */
function lookUps(count: number, list: DenyList): Size {
  const map = new Map(Array.from({ length: count }, (_, i) => [`"user-${i}"`, i]))
  const tokens = Array.from({ length: 1_000 }, (_, i) => ({
    ...{ issuer: 'https://authority.test', sub: `other-${i}`, jti: `token-${i}`, sid: null },
    issuedAt: new Date(),
    expiresAt: new Date(Date.now() + 3_600_000),
  }))
  return {
    size: `${count}`,
    subject(times) {
      for (let i = 0; i < times; i++) for (const token of tokens) list(token, token)
    },
    control(times) {
      for (let i = 0; i < times; i++) for (const { sub } of tokens) map.get(JSON.stringify(sub))
    },
  }
}
