import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test'
import fc from 'fast-check'
import {
  type RedisDenyListOptions,
  redisDenyList,
} from '../../../lib/entrypoints/revocation/index.ts'
import { CLIENTS, type OpenClient } from '../servers/redis-clients.ts'
import { attend, HOUR, tokenOf, verdictOf } from '../tokens/denied.ts'
import { until } from './until.ts'

/** A server that loses its data when it is killed. */
export interface StreamsServer {
  readonly url: string
  kill(): Promise<void>
  start(): Promise<void>
  freeze(): void
  thaw(): void
  close(): Promise<void>
}

const KEY = 'tenant-auth:revocations'
const END = new Date(Math.floor(Date.now() / 1000) * 1000 + HOUR)

const LOST = 'the deny list lost entries in its stream'

/** What a deny list does with any client and any server that keeps streams. */
export function describeStreamsIn(
  what: string,
  open: () => Promise<StreamsServer>,
  clients = CLIENTS,
): void {
  for (const [name, connect] of clients) {
    describe(`a deny list in ${what}, by ${name}`, () => {
      let server: StreamsServer
      let opened: OpenClient[]
      before(async () => {
        server = await open()
        opened = await Promise.all([connect(server.url), connect(server.url)])
      })
      beforeEach(() => send('FLUSHALL'))
      after(async () => {
        for (const client of opened) client.close()
        await server.close()
      })
      const [FIRST, SECOND] = [0, 1]
      const send = (command: string, ...args: string[]) => clientAt(FIRST).send(command, ...args)
      const clientAt = (index: number) => opened[index] ?? assert.fail('no client')
      const make = (index: number, over: Partial<RedisDenyListOptions> = {}) =>
        redisDenyList({ client: clientAt(index).client, ...over })
      const pair = (t: TestContext, over: Partial<RedisDenyListOptions> = {}) => {
        const [mine, other] = [make(FIRST, over), make(SECOND, over)]
        return { mine, other, ...attend(t, other) }
      }

      it('what one process adds another one knows within a second', async (t) => {
        const { mine, other, logged } = pair(t)
        await other.ready()
        for (const jti of ['token-1', 'token-2', 'Ælfrēd 🐪 \ud800 "; DEL']) {
          await mine.add({ jti, until: END })
          await until(() => verdictOf(other, tokenOf({ jti })) === true, 5000)
        }
        assert.equal(verdictOf(other, tokenOf({ jti: 'token-3' })), false)
        await mine.ready()
        assert.equal(mine.size(), 3, 'its own entries come back as the same')
        assert.deepEqual(logged, [])
      })

      it('a server that was killed, and has lost all, is logged, and read again', async (t) => {
        const { mine, other, logged } = pair(t, { interval: 0.1 })
        await mine.add({ jti: 'token-1', until: END })
        await until(() => verdictOf(other) === true, 5000)
        await server.kill()
        await server.start()
        await until(() => logged.includes(LOST), 20_000)
        assert.equal(verdictOf(other), true, 'what is known stays known')
        await mine.add({ jti: 'token-2', until: END })
        await until(() => verdictOf(other, tokenOf({ jti: 'token-2' })) === true, 5000)
      })

      it('an entry comes that was added after the server was away', async (t) => {
        const { mine, other } = pair(t)
        await other.ready()
        await server.kill()
        await server.start()
        // A client may lose what it was about to send, and says so.
        const add = (): Promise<void> => mine.add({ jti: 'token-1', until: END }).catch(add)
        await add()
        await until(() => verdictOf(other) === true, 20_000)
      })

      it('a list beyond maxStale is refused while the server hangs, and right again after', async (t) => {
        const { mine, other } = pair(t, { interval: 0.1, maxStale: 0.5 })
        await mine.add({ jti: 'token-1', until: END })
        await until(() => verdictOf(other) === true, 5000)
        server.freeze()
        try {
          const stranger = tokenOf({ jti: 'token-2' })
          await until(() => verdictOf(other, stranger) === 'ERR_DENY_LIST_STALE', 5000)
          assert.equal(verdictOf(other), true, 'what is known stays true')
        } finally {
          server.thaw()
        }
        await until(() => verdictOf(other, tokenOf({ jti: 'token-2' })) === false, 10_000)
      })

      it('a thousand appended at once by each of two writers are all known', async (t) => {
        const { mine, other, logged } = pair(t)
        await other.ready()
        const writers = [mine, make(SECOND)]
        const names = Array.from({ length: 1000 }, (_, i) => `${i}`)
        await Promise.all(
          writers.flatMap((list, by) =>
            names.map((name) => list.add({ jti: `${by}-${name}`, until: END })),
          ),
        )
        await until(() => other.size() === 2000, 20_000)
        const late = make(SECOND)
        await late.ready()
        assert.equal(late.size(), 2000, 'a first load takes several pages')
        assert.deepEqual(logged, [])
      })

      it('an item that cannot be read is a failure, and all others count', async (t) => {
        const [mine, other] = [make(FIRST), make(SECOND)]
        await mine.add({ jti: 'token-1', until: END })
        const id = String(await send('XADD', KEY, '*', 'sub', 'alice'))
        await mine.add({ jti: 'token-2', until: END })
        const { logged } = attend(t, other)
        await assert.rejects(other.ready(), { code: 'ERR_AUTH_REVOCATION_UNAVAILABLE' })
        const found = ['token-1', 'token-2'].map((jti) => verdictOf(other, tokenOf({ jti })))
        assert.deepEqual(found, [true, true])
        assert.equal(verdictOf(other, tokenOf({ jti: 'token-3' })), 'ERR_DENY_LIST_NOT_LOADED')
        assert.match(`${logged}`, /^the deny list cannot be read \(/)
        await send('XDEL', KEY, id)
        await other.ready()
        assert.equal(verdictOf(other, tokenOf({ jti: 'token-3' })), false)
      })

      it('an entry that ended a day ago is deleted, and no other one', async () => {
        for (const days of [-2, -0.5, 2]) {
          const jti = `in ${days} days`
          const text = JSON.stringify({ jti, until: new Date(Date.now() + 24 * days * HOUR) })
          await send('XADD', KEY, '*', 'entry', text)
        }
        await make(FIRST).add({ jti: 'new', until: END })
        const left = async () => (await itemsOf(send)).map(([, text]) => JSON.parse(text).jti)
        for (let tries = 0; (await left()).length > 3 && tries < 1000; tries++);
        assert.deepEqual(await left(), ['in -0.5 days', 'in 2 days', 'new'])
      })

      it('a model: an entry that a server has at a reading is known, through all it may do', async () => {
        const step = fc.oneof(
          { weight: 4, arbitrary: fc.record({ do: fc.constant('add'), by: fc.nat({ max: 1 }) }) },
          { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('read', 'load') }) },
          { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('flush', 'low', 'delete') }) },
          { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('keep', 'restore') }) },
        )
        const run = async (steps: readonly { do: string; by?: number }[]) => {
          await send('FLUSHALL')
          const writers = [make(FIRST), make(SECOND)]
          let reader = make(SECOND)
          let items: Item[] = []
          let kept: Item[] = []
          for (const [number, { do: act, by = 0 }] of steps.entries()) {
            const jti = `${number}`
            if (act === 'add') await writers[by]?.add({ jti, until: END })
            if (act === 'flush' || act === 'low') await send('FLUSHALL')
            const text = JSON.stringify({ jti, until: END })
            // A server whose clock is behind.
            if (act === 'low') await send('XADD', KEY, '5-1', 'entry', text)
            items = await itemsOf(send)
            if (act === 'delete') await send('XDEL', KEY, items.at(-1)?.[0] ?? '1-1')
            if (act === 'keep') kept = items
            if (act === 'restore') {
              await send('FLUSHALL')
              for (const [id, entry] of kept) await send('XADD', KEY, id, 'entry', entry)
              // Another history goes on, with an id that the reader may know already.
              const lost = items.at(kept.length)?.[0]
              const isLater = kept.every(([id]) => id !== lost)
              if (lost && isLater) await send('XADD', KEY, lost, 'entry', text).catch(() => {})
            }
            if (act === 'load') reader = make(SECOND)
            if (act !== 'read' && act !== 'load') continue
            await reader.ready()
            for (const [, entry] of await itemsOf(send)) {
              const { jti } = JSON.parse(entry)
              assert.equal(verdictOf(reader, tokenOf({ jti })), true, `${jti} is missing`)
            }
          }
        }
        const steps = fc.array(step, { maxLength: 14 })
        await fc.assert(
          fc.asyncProperty(steps, (some) => run([...some, { do: 'read' }])),
          { numRuns: 30 },
        )
      })
    })
  }
}

type Item = readonly [id: string, entry: string]

async function itemsOf(
  send: (command: string, ...args: string[]) => Promise<unknown>,
): Promise<Item[]> {
  const items = await send('XRANGE', KEY, '-', '+', 'COUNT', '1000')
  assert.ok(Array.isArray(items), 'the server answers with a list')
  return items.map(([id, [, entry]]) => [String(id), String(entry)])
}
