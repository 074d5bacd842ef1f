import { parseArgs } from 'node:util'
import { Examiner } from './examiner.ts'
import { mixed } from './mixed.ts'
import { type Mutant, mutantsOf } from './mutant.ts'
import { type Examined, GOAL, Report } from './report.ts'
import { filesOf, ROOMS } from './rooms.ts'
import { readSurvivors, staleSurvivors, survivorKey } from './survivor.ts'

// Changes lib/ a little, in thousands of ways, and runs the nearest tests on each. They should
// notice. Without --minutes it looks at all mutants, also at those that are written down as
// survivors. A later run goes on where an earlier one has ended.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: new Date().toISOString().slice(0, 10) },
    workers: { type: 'string', default: '1' },
    reach: { type: 'string', default: '3' },
  },
})

const rooms = positionals.length > 0 ? positionals : ROOMS
const end = Date.now() + Number(values.minutes) * 60_000
const isSample = values.minutes !== 'Infinity'
const survivors = readSurvivors()
const groups = rooms.map((room) => filesOf(room).flatMap(mutantsOf))
const all = groups.flat()
const asked = isSample
  ? mixed(groups, values.seed).filter((mutant) => !survivors.has(survivorKey(mutant)))
  : all

const examined: Examined[] = []
const queue = asked.values()
await Promise.all(Array.from({ length: Number(values.workers) }, () => work(queue)))

const report = new Report(examined, survivors)
const stale = staleSurvivors(ofRooms(), all)
console.log(`\n${report.table(rooms)}\n`)
console.log(`${examined.length} of ${all.length} mutants, seed ${values.seed}`)
tell(
  'A survivor that is not written down',
  report.unknown.map(({ mutant }) => mutant),
)
tell(
  'A survivor is written down, and is killed',
  report.revived.map(({ mutant }) => mutant),
)
for (const key of stale) console.log(`A survivor is written down that does not exist: ${key}`)
console.log(`${report.score.toFixed(1)} % are killed; the goal is ${GOAL} %`)
// One that is killed after all may live under another version of Node, so it is told, and no more.
const isGood = report.score >= GOAL && report.unknown.length === 0 && stale.length === 0
process.exitCode = isGood ? 0 : 1

async function work(mutants: IterableIterator<Mutant>): Promise<void> {
  const examiner = new Examiner(Number(values.reach))
  for (const mutant of mutants) {
    if (Date.now() > end) break
    const verdict = await examiner.examine(mutant)
    examined.push({ ...verdict, mutant })
    if (verdict.result !== 'killed') console.log(`${verdict.result}: ${nameOf(mutant)}`)
  }
  examiner.close()
}

function tell(what: string, mutants: readonly Mutant[]): void {
  for (const mutant of mutants) console.log(`${what}: ${nameOf(mutant)}`)
}

function nameOf({ file, lineNumber, mutator, change, line }: Mutant): string {
  return `${file}:${lineNumber} ${mutator}: ${change} in ${line}`
}

/** The survivors of the rooms that this run looks at. */
function ofRooms() {
  const prefixes = rooms.map((room) => `lib/${room}/`)
  return new Map(
    [...survivors].filter(([key]) => prefixes.some((prefix) => key.startsWith(prefix))),
  )
}
