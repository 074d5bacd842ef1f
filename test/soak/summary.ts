import type { Soaked } from './soak.ts'
import { shownWrong } from './tally.ts'

/** What a soak has shown, in lines. */
export function summaryOf(soaked: Soaked, seed: number): string[] {
  const { tally, measurements, happened, longestStall } = soaked
  const latitude = (100 * tally.latitudeShare).toFixed(2)
  return [
    '',
    ...tally.lines(),
    '',
    'more than one verdict was allowed:',
    ...[...tally.latitude]
      .sort(([, a], [, b]) => b - a)
      .map(([choice, count]) => `  ${String(count).padStart(8)}  ${choice}`),
    '',
    ...measurements.lines(),
    '',
    [...happened]
      .sort()
      .map(([what, count]) => `${what} ${count}`)
      .join(', '),
    `the longest stall of the machine: ${longestStall.toFixed(0)} ms`,
    '',
    ...tally.wrong.map((wrong) => shownWrong(wrong, seed)),
    ...troublesOf(soaked),
    `${tally.asked} asked, ${tally.wrongCount} wrong verdicts; of ${latitude} % more than one was allowed`,
  ]
}

/** Everything for which a soak fails. */
export function troublesOf({ tally, measurements, troubles }: Soaked): string[] {
  const wrong = tally.wrongCount > 0 ? [`${tally.wrongCount} wrong verdicts`] : []
  const vacuous = tally.count('200') < tally.asked / 20 ? ['hardly a request was admitted'] : []
  return [...wrong, ...vacuous, ...measurements.troubles(), ...troubles]
}
