// Outside: Node tells the end of a response by its connection. A response that waits behind others
// has none yet, and is not told if the connection ends before its turn.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What waits for the end of a connection. One listener for all, so that there is no warning. */
const waiting = new WeakMap<Socket, Set<() => void>>()

/** Calls a function once when a response, or its connection, has ended; at once if it has. */
export function onResponseEnd(
  { socket }: IncomingMessage,
  response: ServerResponse,
  run: () => void,
): void {
  if (response.destroyed || response.writableFinished || socket.destroyed) {
    run()
    return
  }
  if (response.socket !== null) {
    response.once('close', run)
    return
  }
  const together = waiting.get(socket) ?? waitFor(socket)
  together.add(run)
  response.once('close', () => {
    if (together.delete(run)) run()
  })
}

function waitFor(socket: Socket): Set<() => void> {
  const together = new Set<() => void>()
  waiting.set(socket, together)
  socket.once('close', () => {
    for (const run of together) run()
    together.clear()
  })
  return together
}
