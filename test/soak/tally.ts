import { inspect } from 'node:util'
import type { Ask, Verdict } from './oracle.ts'
import type { Soaked } from './soak.ts'

/** Wrong verdicts that are kept, and shown in full. */
const MOST_SHOWN = 50

/** A verdict that the contract does not allow. */
export interface Wrong {
  readonly ask: Ask
  readonly came: Verdict
  readonly allowed: ReadonlySet<Verdict>
  readonly background: unknown
  /** Seconds since the soak began. */
  readonly at: number
}

/** What has been asked, and what came of it. */
export class Tally {
  readonly #onWrong: (wrong: Wrong) => void
  /** By persona and status with code. */
  readonly counts = new Map<string, Map<string, number>>()
  readonly wrong: Wrong[] = []
  asked = 0
  wrongCount = 0
  /** How often more than one verdict was allowed, by these. */
  readonly latitude = new Map<string, number>()

  constructor(onWrong: (wrong: Wrong) => void = () => {}) {
    this.#onWrong = onWrong
  }

  /** @param background what bears on it, for a wrong one */
  note(judged: Omit<Wrong, 'background'>, background: () => unknown): void {
    const { ask, came, allowed } = judged
    this.asked += 1
    if (allowed.size > 1) {
      const choice = [...new Set([...allowed].map(shortOf))].sort().join(' or ')
      this.latitude.set(choice, (this.latitude.get(choice) ?? 0) + 1)
    }
    const verdicts = this.counts.get(ask.persona) ?? new Map<string, number>()
    const short = shortOf(came)
    this.counts.set(ask.persona, verdicts.set(short, (verdicts.get(short) ?? 0) + 1))
    if (allowed.has(came)) return
    this.wrongCount += 1
    if (this.wrong.length >= MOST_SHOWN) return
    const wrong = { ...judged, background: background() }
    this.wrong.push(wrong)
    this.#onWrong(wrong)
  }

  /** How often a verdict came, of all personas. */
  count(short: string): number {
    return [...this.counts.values()].reduce((sum, verdicts) => sum + (verdicts.get(short) ?? 0), 0)
  }

  /** The share of the requests on which more than one verdict was allowed. */
  get latitudeShare(): number {
    const sum = [...this.latitude.values()].reduce((a, b) => a + b, 0)
    return sum / Math.max(1, this.asked)
  }

  lines(): string[] {
    return [...this.counts].flatMap(([persona, verdicts]) => [
      `${persona}:`,
      ...[...verdicts]
        .sort()
        .map(([verdict, count]) => `  ${String(count).padStart(8)}  ${verdict}`),
    ])
  }
}

/** Without what the handler received. */
function shortOf(verdict: Verdict): string {
  return verdict.startsWith('200 {') ? '200' : verdict
}

/** A wrong verdict in a line. */
export function wrongInShort({ ask, came, allowed }: Wrong): string {
  const right = [...new Set([...allowed].map(shortOf))].sort().join(' or ')
  return `${ask.persona}: ${shortOf(came)} in place of ${right}`
}

/** A wrong verdict in full. */
export function shownWrong({ ask, came, allowed, at, background }: Wrong, seed: number): string {
  const { token, ...asked } = ask
  const shownToken = token?.kind === 'jwt' ? { ...token, text: undefined } : token
  const shown = inspect(
    { asked, token: shownToken, came, allowed, background },
    { depth: 6, breakLength: 200 },
  )
  return `wrong after ${at.toFixed(3)} s (--seed ${seed}): ${shown}`
}

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

/** Choices of verdicts that are listed, of those that were allowed most often. */
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
