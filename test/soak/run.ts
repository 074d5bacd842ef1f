import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { soak } from './soak.ts'
import { shownWrong, summaryOf, troublesOf } from './tally.ts'

const USAGE = 'npm run soak -- [minutes] [--seed NUMBER] [--rate REQUESTS-IN-A-SECOND]'

/**
 * A soak of so many minutes. The seed decides what is asked and disturbed. Exits 1 where anything
 * was wrong.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, rate: { type: 'string' } },
})
const minutes = Number(positionals[0] ?? 1)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
const rate = Number(values.rate ?? 200)
if (!(minutes > 0 && rate > 0 && Number.isInteger(seed))) {
  console.error(USAGE)
  process.exit(2)
}

console.log(`a soak of ${minutes} minutes, ${rate} requests in a second, --seed ${seed}`)
const soaked = await soak({
  seconds: minutes * 60,
  seed,
  rate,
  pace: 1,
  lib: fileURLToPath(new URL('../../lib', import.meta.url)),
  processes: ['claims', 'claims', 'application'],
  onWrong: (wrong) => console.log(shownWrong(wrong, seed)),
  onProgress: ({ tally, measurements }, now) => {
    const figures = `${tally.asked} asked, ${tally.wrongCount} wrong, ${measurements.latest}`
    console.log(`${now.toFixed(0).padStart(3)} min: ${figures}`)
  },
})
for (const line of summaryOf(soaked, seed)) console.log(line)
process.exitCode = troublesOf(soaked).length > 0 ? 1 : 0
