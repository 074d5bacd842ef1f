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
      .slice(0, MOST_CHOICES)
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
    `${tally.asked} asked, ${tally.wrongCount} wrong verdicts`,
    `more than one verdict was allowed on ${latitude} %`,
  ]
}

/** Every verdict that a long soak must have seen. */
const VERDICTS = [
  '200',
  '200 logged out',
  '400 invalid_request',
  '400 ERR_AUTH_TENANT_INVALID',
  '400 ERR_AUTH_TENANT_MISSING',
  '401 ERR_AUTH_STEP_UP_REQUIRED',
  '401 ERR_AUTH_TOKEN_INVALID',
  '401 ERR_AUTH_TOKEN_MISSING',
  '403 ERR_AUTH_NOT_PERMITTED',
  '403 ERR_AUTH_RESOURCE_MISSING',
  '403 ERR_AUTH_TENANT_FORBIDDEN',
  '403 ERR_AUTH_TENANT_SUSPENDED',
  '404 ERR_AUTH_TENANT_UNKNOWN',
  '503 ERR_AUTH_CHECK_UNAVAILABLE',
  '503 ERR_AUTH_INTROSPECTION_UNAVAILABLE',
  '503 ERR_AUTH_KEYS_UNAVAILABLE',
  '503 ERR_AUTH_PROOFS_UNAVAILABLE',
  '503 ERR_AUTH_RESOURCES_UNAVAILABLE',
  '503 ERR_AUTH_REVOCATION_UNAVAILABLE',
  '503 ERR_AUTH_TENANTS_UNAVAILABLE',
]

/** Choices of verdicts that are told, of those that were allowed most often. */
const MOST_CHOICES = 15

/** Requests of a long soak. */
const LONG = 100_000

/** Everything for which a soak fails. */
export function troublesOf({ tally, measurements, troubles }: Soaked): string[] {
  const wrong = tally.wrongCount > 0 ? [`${tally.wrongCount} wrong verdicts`] : []
  const vacuous = tally.count('200') < tally.asked / 20 ? ['hardly a request was admitted'] : []
  const unseen = VERDICTS.filter((verdict) => tally.asked >= LONG && tally.count(verdict) === 0)
  return [
    ...wrong,
    ...vacuous,
    ...unseen.map((verdict) => `${verdict} never came`),
    ...measurements.troubles(),
    ...troubles,
  ]
}
