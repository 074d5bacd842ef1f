import { connect, createServer, type Socket } from 'node:net'
import { portOf } from './asked-server.ts'

/**
 * Stands on the way to a server. While it is silent, it accepts connections and bytes, and lets
 * none through, as a network does that has lost its way to the server.
 */
export interface StandIn {
  readonly port: number
  /** From now on nothing is answered, on open connections neither. */
  fallSilent(): void
  /** New connections are answered again. Those of the silence stay silent for ever. */
  heal(): void
  close(): void
}

export async function startStandIn(target: number): Promise<StandIn> {
  const sockets = new Set<Socket>()
  let isSilent = false
  const server = createServer((near) => {
    track(near)
    if (isSilent) return void near.resume()
    const far = track(connect(target, '127.0.0.1'))
    near.pipe(far).pipe(near)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.once('close', () => !muted.has(one) && other.destroy())
    }
  })
  const muted = new WeakSet<Socket>()
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    return socket
  }
  const port = await portOf(server)
  return {
    port,
    fallSilent() {
      isSilent = true
      for (const socket of sockets) {
        muted.add(socket)
        socket.unpipe()
        socket.resume()
      }
    },
    heal() {
      isSilent = false
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
