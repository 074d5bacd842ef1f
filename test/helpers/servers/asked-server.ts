import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { Server } from 'node:net'
import { after } from 'node:test'

/** Lets a server listen on a free port of loopback, or of the whole machine. */
export async function portOf(server: Server, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null, 'it listens on a port')
  return address.port
}

/** A server on loopback that counts its requests. It ends with its test, or with the test file. */
export async function askedServer(answer: RequestListener) {
  let count = 0
  const server = createServer((request, response) => {
    count++
    answer(request, response)
  })
  const port = await portOf(server)
  const close = async (): Promise<void> => {
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  after(close)
  return {
    url: `http://127.0.0.1:${port}/`,
    get count() {
      return count
    },
    close,
  }
}
