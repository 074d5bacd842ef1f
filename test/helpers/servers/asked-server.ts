import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { after } from 'node:test'

/** A server on loopback that counts its requests. It ends with the test file. */
export async function askedServer(answer: RequestListener) {
  let count = 0
  const server = createServer((request, response) => {
    count++
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
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
