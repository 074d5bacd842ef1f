import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { EntryLog } from '../helpers/servers/entry-log.ts'
import { RedisServer } from '../helpers/servers/redis-server.ts'
import { listenOn } from './listen-on.ts'

/** Where all processes keep the entries of the deny list. */
export interface EntryStore {
  readonly url: string
  /** Ways in which it goes away. */
  readonly ways: readonly Way[]
  goAway(way: Way): Promise<void>
  /** Resolves when it answers again, with all that it kept. */
  comeBack(): Promise<void>
  close(): Promise<void>
}

export type Way = 'killed' | 'terminated' | 'frozen'

/** A real server of Redis in a scratch folder. */
export async function redisStore(): Promise<EntryStore> {
  const server = await RedisServer.open(true)
  let isFrozen = false
  return {
    url: server.url,
    ways: ['killed', 'killed', 'terminated', 'frozen'],
    async goAway(way) {
      isFrozen = way === 'frozen'
      if (isFrozen) server.freeze()
      else await server.kill(way === 'killed' ? 'SIGKILL' : 'SIGTERM')
    },
    async comeBack() {
      if (isFrozen) server.thaw()
      else await server.start()
    },
    close: () => server.close(),
  }
}

/** A server in the process of the soak, for machines without Redis. */
export async function ownStore(): Promise<EntryStore> {
  const log = new EntryLog()
  let isFrozen = false
  const server: Server = createServer((request, response) => {
    if (isFrozen) return
    void (async () => {
      if (request.method === 'POST') {
        await log.append(JSON.parse(await text(request)))
        response.end()
        return
      }
      const after = new URL(request.url ?? '', 'http://soak').searchParams.get('after')
      response.end(JSON.stringify(await log.changes(Number(after))))
    })()
  })
  const port = await listenOn(server, 0)
  const stop = async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  return {
    url: `http://127.0.0.1:${port}/`,
    ways: ['killed', 'frozen'],
    async goAway(way) {
      isFrozen = way === 'frozen'
      if (!isFrozen) await stop()
    },
    async comeBack() {
      isFrozen = false
      if (!server.listening) await listenOn(server, port)
    },
    async close() {
      if (server.listening) await stop()
    },
  }
}
