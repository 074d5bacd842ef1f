import type { OwnStream, StreamItem } from '../../../lib/deny-stores/redis-stream.ts'

/** A stream whose answers the test holds in its hands. */
export class MemoryStream implements OwnStream {
  items: StreamItem[] = []
  /** How many questions were asked. */
  asked = 0
  readonly deleted: string[] = []
  /** Called before each answer. */
  before: () => Promise<void> | void = () => {}
  /** Answers of `hasBeyond`, one after the other; after them it waits for ever. */
  beyond: (() => boolean | Promise<boolean>)[] = []
  /** How many connections were made, opened and closed. */
  readonly count = { made: 0, opened: 0, closed: 0 }
  #lost: () => void = () => {}

  put(id: number, text: string | null): void {
    this.items.push({ id: `${id}-0`, text })
  }

  async range(from: string, most: number): Promise<StreamItem[]> {
    this.asked += 1
    await this.before()
    const first = Number.parseInt(from, 10)
    return this.items.filter(({ id }) => Number.parseInt(id, 10) >= first).slice(0, most)
  }

  async add(text: string): Promise<string> {
    await this.before()
    const id = Date.now()
    this.put(id, text)
    return `${id}-0`
  }

  async delete(ids: readonly string[]): Promise<void> {
    this.deleted.push(...ids)
    this.items = this.items.filter(({ id }) => !ids.includes(id))
  }

  async hasBeyond(_id: string): Promise<boolean> {
    return (await this.beyond.shift()?.()) ?? new Promise(() => {})
  }

  duplicate(): OwnStream {
    this.count.made += 1
    return this
  }

  async open(): Promise<void> {
    await this.before()
    this.count.opened += 1
  }

  onLost(listener: () => void): void {
    this.#lost = listener
  }

  close(): void {
    this.count.closed += 1
  }

  /** The connection that was made last is lost. */
  lose(): void {
    this.#lost()
  }
}
