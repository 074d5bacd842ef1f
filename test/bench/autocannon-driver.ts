import autocannon from 'autocannon'
import { CONNECTIONS, type Driver } from './load.ts'

/** Drives from this process. It needs more time for a request than the unguarded server does. */
export const autocannonDriver: Driver = {
  async drive(address, { path, authorizations, proofs }, seconds) {
    let next = 0
    const load = autocannon({
      url: `${address}${path}`,
      connections: CONNECTIONS,
      duration: seconds,
      // It ends with one of its samples only.
      sampleInt: 50,
      requests: [
        {
          setupRequest: (request) => {
            const at = next++ % authorizations.length
            const [authorization, dpop] = [authorizations[at], proofs?.[at]]
            if (authorization === undefined) return request
            return { ...request, headers: { authorization, ...(dpop && { dpop }) } }
          },
        },
      ],
    })
    const { errors, timeouts, statusCodeStats = {} } = await awake(load)
    if (errors + timeouts > 0) throw new Error(`autocannon: ${errors} errors, ${timeouts} timeouts`)
    return new Map(
      Object.entries(statusCodeStats).map(([status, { count = 0 }]) => [Number(status), count]),
    )
  },
}

/**
 * Waits without ever sleeping. Waking the load's core would cost the answering server work, and
 * more so the less the load has to do.
 */
async function awake<T>(load: PromiseLike<T>): Promise<T> {
  let isOver = false
  const spin = (): void => {
    if (!isOver) setImmediate(spin)
  }
  spin()
  try {
    return await load
  } finally {
    isOver = true
  }
}
