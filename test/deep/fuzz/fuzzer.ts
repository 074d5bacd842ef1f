import { Session } from 'node:inspector'
import { setImmediate } from 'node:timers/promises'
import { Random } from '../../soak/random.ts'

/** Something that takes texts from outside. */
export interface Target {
  readonly name: string
  /** Good and bad inputs, to begin with. */
  readonly seeds: readonly string[]
  /** Texts that mean something to it. */
  readonly words: readonly string[]
  /** What is wrong with what it makes of an input; null: nothing. To throw is wrong, too. */
  run(input: string): Promise<string | null> | string | null
}

export interface Fuzzed {
  readonly inputs: number
  /** Inputs that reached code that none before had reached. */
  readonly kept: number
  /** Blocks of lib/ that were reached. */
  readonly blocks: number
  /** Milliseconds of CPU for the slowest input. */
  readonly slowest: number
  readonly findings: readonly string[]
}

/** Inputs between two looks at what was reached. */
const BATCH = 25

/** Milliseconds of CPU for one input. More is a hang for whoever waits behind it. */
const MOST_TIME = 500

const MOST_FINDINGS = 5

/** Characters of an input. */
const MOST_LETTERS = 20_000

/**
 * Changes inputs at random, keeps those that reach new code, and changes these again. The same seed
 * does the same as long as the code takes no other way.
 */
export async function fuzz(target: Target, seconds: number, seed: number): Promise<Fuzzed> {
  const random = Random.of(seed, target.name)
  const reached = new Reached()
  const corpus = [...target.seeds]
  const findings: string[] = []
  let [inputs, slowest] = [0, 0]
  const run = async (input: string) => {
    inputs += 1
    let [wrong, time] = await timed(target, input)
    // The engine may have collected or compiled meanwhile.
    for (let again = 0; again < 3 && time > MOST_TIME; again++) {
      time = Math.min(time, (await timed(target, input))[1])
    }
    slowest = Math.max(slowest, time)
    if (time > MOST_TIME) wrong ??= `it takes ${time.toFixed(0)} ms`
    if (wrong !== null) findings.push(`${wrong}: ${JSON.stringify(input)}`)
  }
  for (const input of corpus) await run(input)
  const first = corpus.length
  reached.look()
  const end = performance.now() + seconds * 1000
  while (performance.now() < end && findings.length < MOST_FINDINGS) {
    const batch = Array.from({ length: BATCH }, () => mutated(corpus, target.words, random))
    for (const input of batch) await run(input)
    // What a turn of the event loop holds is let go with it.
    await setImmediate()
    if (reached.look() === 0) continue
    // Which of them it was is not known: each may lead further.
    corpus.push(...batch.filter((input) => input.length < MOST_LETTERS / 2))
  }
  reached.end()
  return {
    inputs,
    kept: corpus.length - first,
    blocks: reached.size,
    slowest: Math.round(slowest),
    findings,
  }
}

/** What is wrong, and the milliseconds of CPU. */
async function timed(target: Target, input: string): Promise<[string | null, number]> {
  const before = process.cpuUsage()
  const wrong = await attempt(target, input)
  const { user, system } = process.cpuUsage(before)
  return [wrong, (user + system) / 1000]
}

async function attempt(target: Target, input: string): Promise<string | null> {
  try {
    return await target.run(input)
  } catch (error) {
    return `it throws ${error instanceof Error ? error.stack : String(error)}`
  }
}

/** The blocks of lib/ that V8 has seen running. */
class Reached {
  readonly #session = new Session()
  readonly #blocks = new Set<string>()

  constructor() {
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  get size(): number {
    return this.#blocks.size
  }

  /** How many blocks are new since the last look. */
  look(): number {
    const before = this.#blocks.size
    this.#session.post('Profiler.takePreciseCoverage', (_error, taken) => {
      for (const { url, scriptId, functions } of taken?.result ?? []) {
        if (!url.includes('/lib/') || url.includes('/node_modules/')) continue
        for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges)) {
          if (count > 0) this.#blocks.add(`${scriptId} ${startOffset} ${endOffset}`)
        }
      }
    })
    return this.#blocks.size - before
  }

  end(): void {
    this.#session.disconnect()
  }
}

/** One input, with one to four changes. */
function mutated(corpus: readonly string[], words: readonly string[], random: Random): string {
  // Those that came last reached what is hard to reach.
  const from = random.chance(0.5) ? Math.max(0, corpus.length - 50) : 0
  let input = random.pick(corpus.slice(from))
  for (let changes = 1 + random.below(4); changes > 0; changes--) {
    const change = random.pick(random.chance(0.5) ? JSON_CHANGES : TEXT_CHANGES)
    input = change(input, words, random, corpus).slice(0, MOST_LETTERS)
  }
  return input
}

type Change = (
  input: string,
  words: readonly string[],
  random: Random,
  corpus: readonly string[],
) => string

const ODD_LETTERS = ['\0', '\n', '\r', '\t', ' ', '"', "'", '\\', '.', '=', ',', ';', '\ufeff', 'é']

const letter = (random: Random) =>
  random.chance(0.5) ? random.pick(ODD_LETTERS) : String.fromCharCode(random.below(256))

/** Takes some letters out at a place, and puts a text there. */
function spliced(input: string, random: Random, most: number, text: string): string {
  const at = random.below(input.length + 1)
  return input.slice(0, at) + text + input.slice(at + random.below(most + 1))
}

const TEXT_CHANGES: readonly Change[] = [
  (input, _words, random) => spliced(input, random, 20, ''),
  (input, _words, random) => spliced(input, random, 1, letter(random)),
  (input, words, random) => spliced(input, random, 0, random.pick(words)),
  (input, words, random) => spliced(input, random, 12, random.pick(words)),
  (input, _words, random, corpus) => {
    const other = random.pick(corpus)
    return input.slice(0, random.below(input.length + 1)) + other.slice(random.below(other.length))
  },
  (input, _words, random) => {
    const at = random.below(input.length + 1)
    return spliced(input, random, 0, input.slice(at, at + 1 + random.below(60)))
  },
  (input, _words, random) => input.slice(0, random.below(input.length + 1)),
  (input, _words, random) => {
    const lines = input.split('\n')
    return [...lines, random.pick(lines)].join('\n')
  },
]

const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1, 1.5, 1e300, '', '*', ' ', [], {}, [[]], [null], ['']],
  ...['__proto__', 'constructor', '1', { __proto__: null, toString: 1 }, 'x'.repeat(300)],
]

const asText = (value: unknown) => JSON.stringify(value) ?? 'null'

/** Changes of one line that is JSON; of one that is none, a change of its text. */
const JSON_CHANGES: readonly Change[] = [
  (input, words, random, corpus) => {
    const lines = input.split('\n')
    // A whole text may be JSON of several lines.
    const at = random.chance(0.5) ? random.below(lines.length) : -1
    const text = at < 0 ? input : (lines[at] ?? '')
    const changed = withOtherJson(text, words, random)
    if (changed === undefined) return random.pick(TEXT_CHANGES)(input, words, random, corpus)
    return at < 0 ? changed : lines.with(at, changed).join('\n')
  },
]

function withOtherJson(text: string, words: readonly string[], random: Random) {
  try {
    const value: unknown = JSON.parse(text)
    const places = placesIn(value)
    if (places.length === 0) return undefined
    const { holder, name } = random.pick(places)
    const others = random.pick(places)
    const [key, way] = [String(name), random.below(6)]
    if (way === 0) Reflect.deleteProperty(holder, name)
    else if (way === 1) Reflect.set(holder, name, random.pick(VALUES))
    else if (way === 2) Reflect.set(holder, name, random.pick(words))
    else if (way === 3) {
      Reflect.set(holder, name, structuredClone(Reflect.get(others.holder, others.name)))
    } else if (way === 4) Reflect.set(holder, random.pick(words), random.pick(VALUES))
    else Reflect.set(holder, `${key}${random.pick(['', ' ', 's', '\0'])}`, random.pick(VALUES))
    return asText(value)
  } catch {
    return undefined
  }
}

interface Place {
  readonly holder: object
  readonly name: string
}

/** Every member of every object and list. */
function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => [
    { holder: value, name },
    ...placesIn(member),
  ])
}
