import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { VirtualAuthority } from '../servers/virtual-authority.ts'
import { type ForgeKey, forge } from '../tokens/forge.ts'
import { goodClaims, type Probe } from '../tokens/probe.ts'

export const MAX_AGE = 100
export const MAX_STALE = 300
export const TOLERANCE = 5

export interface Token {
  readonly text: string
  readonly key: ForgeKey
  readonly exp: number
  readonly isBent: boolean
  /** True once it was refused for its time: the clock only goes forward. */
  isOver: boolean
}

/** What the test knows of the world. */
export interface Model {
  readonly tokens: Token[]
  /**
   * When a key was last published, in milliseconds since the epoch. Infinite while it is published.
   */
  readonly publishedUntil: Map<ForgeKey, number>
  /** Since when the endpoint answers. */
  upSince: number
}

/** Two services on the same keys: one with a cache, one without. */
export interface Pair {
  readonly authority: VirtualAuthority
  readonly cached: Probe
  readonly uncached: Probe
}

type Command = fc.AsyncCommand<Model, Pair>

export class Mint implements Command {
  readonly #key: ForgeKey
  readonly #life: number
  readonly #isBent: boolean

  constructor(key: ForgeKey, life: number, isBent: boolean) {
    this.#key = key
    this.#life = life
    this.#isBent = isBent
  }

  check = () => true

  async run(model: Model): Promise<void> {
    this.add(model)
  }

  add(model: Model): void {
    const exp = Math.floor(Date.now() / 1000) + this.#life
    const good = forge(this.#key, { payload: goodClaims({ exp }) })
    const text = this.#isBent ? good.replace(/.{6}$/, 'AAAAAA') : good
    model.tokens.push({ text, key: this.#key, exp, isBent: this.#isBent, isOver: false })
  }

  toString = () => `Mint(${this.#key.kid}, ${this.#life} s${this.#isBent ? ', bent' : ''})`
}

export class Ask implements Command {
  readonly #index: number
  readonly #url: string

  constructor(index: number, url: string) {
    this.#index = index
    this.#url = url
  }

  check = ({ tokens }: Readonly<Model>) => tokens.length > 0

  async run(model: Model, { authority, cached, uncached }: Pair): Promise<void> {
    const token = model.tokens[this.#index % model.tokens.length]
    assert.ok(token, 'the model has tokens')
    const withCache = await cached.ask(token.text, this.#url)
    const without = await uncached.ask(token.text, this.#url)
    assert.equal(withCache.statusCode, without.statusCode)
    assert.equal(withCache.body, without.body)
    assert.match(`${without.statusCode}`, /^(?:200|401|403|503)$/)
    if (without.statusCode < 401 || without.statusCode === 403) {
      assertJustified(token, model, authority)
    }
    if (Date.now() / 1000 >= token.exp + TOLERANCE) {
      assert.match(`${without.statusCode}`, /^(?:401|503)$/)
      token.isOver = true
    }
  }

  toString = () => `Ask(${this.#index}, ${this.#url})`
}

/** What must be true of a token that is believed, after any history. */
function assertJustified(
  token: Token,
  { publishedUntil, upSince }: Model,
  { fetched }: VirtualAuthority,
): void {
  const now = Date.now()
  const loadedAt = fetched.findLast(({ ok }) => ok)?.at ?? Number.NEGATIVE_INFINITY
  assert.ok(now - loadedAt < (MAX_AGE + MAX_STALE) * 1000, 'the keys are not too old')
  assert.equal(token.isBent || token.isOver, false)
  assert.ok(now / 1000 < token.exp + TOLERANCE, 'the token has not expired')
  const until = publishedUntil.get(token.key)
  assert.ok(until !== undefined, 'the key was published at some time')
  const noticeable = Math.max(until, upSince)
  const found = now - noticeable <= MAX_AGE * 1000
  assert.ok(found, 'a key that left is noticed while the endpoint is up')
}

export class Publish implements Command {
  readonly #keys: readonly ForgeKey[]

  constructor(keys: readonly ForgeKey[]) {
    this.#keys = keys
  }

  check = () => true

  async run({ publishedUntil }: Model, { authority }: Pair): Promise<void> {
    for (const key of authority.keys) publishedUntil.set(key, Date.now())
    authority.keys = this.#keys
    for (const key of this.#keys) publishedUntil.set(key, Number.POSITIVE_INFINITY)
  }

  toString = () => `Publish(${this.#keys.map(({ kid }) => kid)})`
}

export class Fail implements Command {
  readonly #isDown: boolean

  constructor(isDown: boolean) {
    this.#isDown = isDown
  }

  check = () => true

  async run(model: Model, { authority }: Pair): Promise<void> {
    authority.isDown = this.#isDown
    model.upSince = this.#isDown ? Number.POSITIVE_INFINITY : Date.now()
  }

  toString = () => (this.#isDown ? 'Fail' : 'Recover')
}

export class Move implements Command {
  readonly #seconds: number

  constructor(seconds: number) {
    this.#seconds = seconds
  }

  check = () => true

  run(_model: Model, { authority }: Pair): Promise<void> {
    return authority.move(this.#seconds)
  }

  toString = () => `Move(${this.#seconds} s)`
}

export class Refresh implements Command {
  check = () => true

  async run(_model: Model, { cached, uncached }: Pair): Promise<void> {
    const [a, b] = await Promise.allSettled([
      cached.service.refreshKeys(),
      uncached.service.refreshKeys(),
    ])
    assert.equal(a.status, b.status)
  }

  toString = () => 'Refresh'
}

/** Any next step. */
export function anyCommand(keys: readonly ForgeKey[]): fc.Arbitrary<Command>[] {
  const seconds = fc.oneof(
    fc.integer({ min: 0, max: 30 }),
    fc.integer({ min: MAX_AGE * 0.8, max: MAX_AGE * 2 }),
    fc.integer({ min: 1, max: MAX_AGE + MAX_STALE + 100 }),
  )
  const urls = fc.constantFrom('/me', '/t/acme', '/t/other')
  const ask = fc.tuple(fc.nat(9), urls).map(([index, url]) => new Ask(index, url))
  return [
    fc
      .tuple(fc.constantFrom(...keys), fc.integer({ min: -10, max: 600 }), fc.nat(5))
      .map(([key, life, bent]) => new Mint(key, life, bent === 0)),
    ask,
    ask,
    ask,
    fc.subarray([...keys], { minLength: 1 }).map((published) => new Publish(published)),
    fc.boolean().map((isDown) => new Fail(isDown)),
    seconds.map((time) => new Move(time)),
    fc.constant(new Refresh()),
  ]
}
