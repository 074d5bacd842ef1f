import type { RedisStream, StreamItem } from '../../../lib/entrypoints/revocation/redis/clients.ts'

/** A stream whose answers the test holds in its hands. */
export class MemoryStream implements RedisStream {
  items: StreamItem[] = []
  /** How many questions were asked. */
  asked = 0
  readonly deleted: string[] = []
  /** Called before each answer. */
  before: () => Promise<void> | void = () => {}

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
}
