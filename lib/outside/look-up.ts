// Outside: name servers that a customer has chosen, and that may never answer.

import dns, { type LookupAddress } from 'node:dns'
import { isLoopback } from './loopback.ts'

/** Name servers that are silent. Any other answer may be one of those that do not know a name. */
const SILENT = ['ETIMEOUT', 'ECANCELLED']

/** The look-up of the machine that is under way for a name that the name servers do not have. */
let asking: Promise<unknown> = Promise.resolve()

/**
 * The addresses of a name, by the name servers of the machine. `dns.lookup` asks them in a thread
 * that cannot be ended, and the process has two of them for that: a few names whose servers are
 * silent would stop every look-up, and with it every connection. So it is asked only for names that
 * the name servers do not have, such as those of a hosts file, and one at a time.
 *
 * @throws the error of the look-up, by whose code it is told
 */
export async function lookUp(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
  if (isLoopback(name)) return askMachine(name)
  try {
    return await askServers(name, signal)
  } catch (error) {
    if (signal.aborted || isSilence(error)) throw error
  }
  const turn = asking.then(() => {
    signal.throwIfAborted()
    return askMachine(name)
  })
  asking = turn.catch(() => {})
  return turn
}

/** Ends with the signal. A name that has no addresses of one family may have some of the other. */
async function askServers(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
  signal.throwIfAborted()
  const resolver = new dns.promises.Resolver()
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const answers = await Promise.allSettled([
      resolver.resolve4(name).then((found) => found.map((address) => ({ address, family: 4 }))),
      resolver.resolve6(name).then((found) => found.map((address) => ({ address, family: 6 }))),
    ])
    const addresses = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    if (addresses.length > 0) return addresses
    const reasons = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    throw reasons.find(isSilence) ?? reasons[0]
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

function isSilence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && SILENT.includes(String(error.code))
}

function askMachine(name: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    dns.lookup(name, { all: true }, (error, addresses) => {
      if (error) reject(error)
      else resolve(addresses)
    })
  })
}
