import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { localProofTable, type ProofTable } from '../../lib/identity/proofs/proof-table.ts'
import { clock } from '../../lib/platform/runtime/clock.ts'
import { holds } from '../helpers/arbitraries/property.ts'

const START = Date.UTC(2026, 0, 1)
const MINUTE = 60_000
const MAX = 12

/** Times around those at which a bucket ends. */
const anyTime = fc.oneof(
  fc.integer({ min: -3, max: 12 }).map((minutes) => minutes * MINUTE),
  fc.integer({ min: -2 * MINUTE, max: 12 * MINUTE }),
  fc.constantFrom(-1, 0, 1, MINUTE - 1, MINUTE + 1),
)
const anyStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('note' as const),
      jkt: fc.nat({ max: 3 }),
      jti: fc.nat({ max: 5 }),
      in: anyTime,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('again' as const), which: fc.nat({ max: 50 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('pass' as const), by: anyTime.map(Math.abs) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      by: fc.oneof(
        anyTime,
        anyTime.map((by) => -by),
        fc.constantFrom(-600 * MINUTE, 600 * MINUTE),
      ),
    }),
  },
)
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

/** A proof that was new: its end, and when that has come by the clock that is never set. */
interface Noted {
  readonly key: string
  readonly until: number
  readonly over: number
}

/** A table that forgets nothing, beside the real one. */
class World {
  wall = START
  monotonic = 0
  latest = START
  readonly noted: Noted[] = []
  readonly #isFirst: ProofTable

  constructor(max: number) {
    this.#isFirst = localProofTable({ max })
  }

  run(step: Step): void {
    if (step.do === 'pass') this.#move(step.by, step.by)
    if (step.do === 'set') this.#move(step.by, 0)
    if (step.do === 'note') this.#note(keyOf(step.jkt, step.jti), this.wall + step.in)
    const old =
      step.do === 'again' ? this.noted.at(step.which % (this.noted.length || 1)) : undefined
    if (old !== undefined) this.#note(old.key, old.until)
    assert.ok(this.#isFirst.size <= MAX + MAX / 4, `${this.#isFirst.size} are held`)
  }

  #move(wall: number, monotonic: number): void {
    this.wall += wall
    this.monotonic += monotonic
    this.latest = Math.max(this.latest, this.wall)
  }

  #note(key: string, until: number): void {
    const same = this.noted.filter((one) => one.key === key)
    // The same proof has the same end. Another one of its name is held as long as the first is.
    const isOfMinute = (one: Noted) => minuteOf(one.until) === minuteOf(until)
    const isSeen = same.some((one) => isOfMinute(one) || this.monotonic < one.over)
    const isFirst = this.#ask(key, until)
    if (isSeen) assert.equal(isFirst, false, 'a proof that was seen is new')
    // What the clock has never shown cannot be over, nor what ends in a minute that had no other.
    const isAlone = !this.noted.some(isOfMinute)
    const isNew = same.length === 0 && (until > this.latest || isAlone)
    if (isNew) assert.notEqual(isFirst, false, 'a new proof was seen')
    if (isFirst === 'full') assert.ok(this.#isFirst.size >= MAX, 'it is not full')
    if (isFirst !== true) return
    this.noted.push({ key, until, over: this.monotonic + until - this.wall })
  }

  #ask(key: string, until: number): boolean | 'full' {
    try {
      return this.#isFirst(key, new Date(until))
    } catch (error) {
      assert.match(String(error), /full/)
      return 'full'
    }
  }

  /** All are over by both clocks, and none of them comes back. */
  end(): void {
    this.#move(2000 * MINUTE, 2000 * MINUTE)
    assert.equal(this.#isFirst.size, 0)
    this.#move(-4000 * MINUTE, 0)
    for (const { key, until } of this.noted) assert.equal(this.#ask(key, until), false)
  }
}

function minuteOf(until: number): number {
  return Math.ceil(until / MINUTE)
}

function keyOf(jkt: number, jti: number): string {
  const named = (text: string) => createHash('sha256').update(text).digest('base64url')
  return `${named(`${jkt}`)}.${named(`${jti}`)}`
}

test('no proof is new twice, however clocks are moved, and a new one is new', async (t) => {
  let world = new World(MAX)
  const { now } = Date
  // Assigned: a mocked method keeps a record of each call.
  Date.now = () => world.wall
  clock.now = () => world.monotonic
  t.after(() => {
    Date.now = now
    Reflect.deleteProperty(clock, 'now')
  })
  await holds(
    t,
    fc.asyncProperty(fc.array(anyStep, { maxLength: 60 }), async (steps) => {
      world = new World(MAX)
      for (const step of steps) world.run(step)
      world.end()
    }),
  )
})
