import { cpus } from 'node:os'
import { contest } from './contest.ts'
import { pinLoad } from './cores.ts'
import { readFlags } from './flags.ts'
import { detailsOf, type Measured, tablesOf } from './report.ts'
import { rowsOf } from './rows.ts'

const flags = readFlags(process.argv.slice(2))
const { rounds, seconds, kinds, algorithms, builds, drivers } = flags
// The tables alone are for .github/docs/performance.md.
const tell = flags.isMarkdown ? console.error : console.log

const isPinned = pinLoad()
tell(
  [
    `Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores`,
    `driven by ${drivers.join(' and ')}`,
    `server and load ${isPinned ? 'on a core each' : 'not pinned'}`,
    `${rounds} rounds of ${seconds} s`,
  ].join('; '),
)
const rows: Measured[] = []
for await (const row of rowsOf(kinds, algorithms, builds)) {
  const measured = { ...row, costs: await contest(row.contestants, { ...flags, isPinned }) }
  for (const line of detailsOf(measured)) tell(line)
  rows.push(measured)
}
tell('')
console.log(tablesOf(rows))
