import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * Listens on a port of loopback; 0: any free one. A port that was given up may have been taken
 * meanwhile: it is waited for. Returns the port.
 */
export async function listenOn(server: Server, port: number): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    try {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      const address = server.address()
      if (typeof address === 'object' && address !== null) return address.port
      throw new Error('the server has no port')
    } catch (error) {
      if (attempt >= 100) throw error
      await wait(100)
    }
  }
}
