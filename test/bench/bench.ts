import { cpus } from 'node:os'
import { readFlags } from './flags.ts'
import { detailsOf, type Measured, tablesOf } from './report.ts'
import { rowsOf } from './rows.ts'
import { pinLoad } from './served.ts'

const flags = readFlags(process.argv.slice(2))
const { rounds, seconds, kinds, algorithms, builds, drivers } = flags
// The tables alone are for .github/docs/performance.md.
const print = flags.isMarkdown ? console.error : console.log

const isPinned = pinLoad()
print(
  [
    `Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores`,
    `driven by ${drivers.join(' and ')}`,
    `server and load ${isPinned ? 'on a core each' : 'not pinned'}`,
    `${rounds} rounds of ${seconds} s`,
  ].join('; '),
)
const rows: Measured[] = []
for await (const { kind, name, run } of rowsOf(kinds, algorithms, builds)) {
  const measured = { kind, name, costs: await run({ rounds, seconds, drivers, isPinned }) }
  for (const line of detailsOf(measured)) print(line)
  rows.push(measured)
}
print('\nMedian (quartiles). ≈: no farther from 1 than two equal servers are in the same run.\n')
console.log(tablesOf(rows))
