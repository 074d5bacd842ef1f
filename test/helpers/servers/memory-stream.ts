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
    const [time = 0, serial = 0] = partsOf(from)
    return this.items
      .filter(({ id }) => {
        const [own = 0, ownSerial = 0] = partsOf(id)
        return own > time || (own === time && ownSerial >= serial)
      })
      .slice(0, most)
  }

  async add(text: string): Promise<string> {
    await this.before()
    const now = Date.now()
    const [time, serial = 0] = partsOf(this.items.at(-1)?.id ?? '0-0')
    const id = `${now}-${time === now ? serial + 1 : 0}`
    this.items.push({ id, text })
    return id
  }

  async delete(ids: readonly string[]): Promise<void> {
    this.deleted.push(...ids)
    this.items = this.items.filter(({ id }) => !ids.includes(id))
  }
}

/** The time and the serial number of an id. */
function partsOf(id: string): number[] {
  return id.split('-').map(Number)
}
