import { inspect } from 'node:util'
import type { Ask, Verdict } from './oracle.ts'

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
