import { type DenyList, denyList } from 'fastify-tenant-auth/revocation'
import { median } from './statistics.ts'

const SIZES = [1, 100, 10_000, 100_000]

/** Look-ups of one round. */
const LOOK_UPS = 40_000

/** A list of so many users. */
export async function filledList(size: number): Promise<DenyList> {
  const list = denyList()
  for (let i = 0; i < size; i++) await list.add({ sub: `denied-${i}` })
  return list
}

/**
 * A look-up alone, beside one in a Map: where a table outgrows the caches of the processor, many
 * different tokens cost more, in a Map too.
 */
export async function compareLookUps(rounds: number): Promise<void> {
  console.log('\n| look-ups | entries | deny list | against 1 | Map | against 1 |')
  console.log('|---|---|---|---|---|---|')
  for (const count of [100, 2_000]) {
    const built = await Promise.all(SIZES.map((size) => lookUpsOf(size, count)))
    const times = built.map((kinds) => kinds.map((): number[] => []))
    for (let round = -5; round < rounds; round++) {
      for (const [at, kinds] of built.entries()) {
        for (const [kind, lookUp] of kinds.entries()) {
          const time = timeOf(lookUp, count)
          if (round >= 0) times[at]?.[kind]?.push(time)
        }
      }
    }
    const [smallest = []] = times
    for (const [at, size] of SIZES.entries()) {
      const cells = (times[at] ?? []).map((all, kind) => {
        const ratio = median(
          all.map((time, round) => time / (smallest[kind]?.[round] ?? Number.NaN)),
        )
        return `${Math.round(median(all))} ns | ${ratio.toFixed(2)}`
      })
      console.log(`| of ${count} tokens | ${size} | ${cells.join(' | ')} |`)
    }
  }
}

/** Of users whom no entry names. */
async function lookUpsOf(size: number, count: number): Promise<(() => void)[]> {
  const list = await filledList(size)
  const map = new Map(Array.from({ length: size }, (_, i) => [`"denied-${i}"`, i]))
  const tokens = Array.from({ length: count }, (_, i) => ({
    ...{ issuer: 'https://authority.test', sub: `user-${i}`, jti: `token-${i}`, sid: null },
    issuedAt: new Date(),
    expiresAt: new Date(Date.now() + 3_600_000),
  }))
  return [
    () => {
      for (const token of tokens) list(token, token)
    },
    () => {
      for (const { sub } of tokens) map.get(JSON.stringify(sub))
    },
  ]
}

/** Nanoseconds of one look-up. */
function timeOf(lookUp: () => void, count: number): number {
  const begin = process.hrtime.bigint()
  for (let asked = 0; asked < LOOK_UPS; asked += count) lookUp()
  return Number(process.hrtime.bigint() - begin) / LOOK_UPS
}
