import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { redisStore } from './entry-store.ts'
import { soak } from './soak.ts'
import { summaryOf, troublesOf } from './summary.ts'

/**
 * `npm run soak -- 60`: a soak of so many minutes; with `--seed` a certain one, with `--rate` so
 * many requests in a second. Exits 1 where anything was wrong.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, rate: { type: 'string' } },
})
const [minutes = '1'] = positionals
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))

console.log(`soak of ${minutes} minutes, --seed ${seed}`)
const soaked = await soak({
  seconds: Number(minutes) * 60,
  seed,
  rate: Number(values.rate ?? 200),
  pace: 1,
  lib: fileURLToPath(new URL('../../lib', import.meta.url)),
  processes: ['claims', 'claims', 'application'],
  openStore: redisStore,
  onProgress: ({ tally, measurements }, now) =>
    console.log(
      `${now.toFixed(0).padStart(3)} min: ${tally.asked} asked, ${tally.wrongCount} wrong, ${measurements.latest}`,
    ),
})
for (const line of summaryOf(soaked, seed)) console.log(line)
process.exitCode = troublesOf(soaked).length > 0 ? 1 : 0
