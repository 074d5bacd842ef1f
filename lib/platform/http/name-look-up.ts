import dns, { type LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import { errorCode } from '../runtime/error.ts'
import { isLoopback } from './urls.ts'

// Outside: names that a customer has chosen, whose name servers may never answer.

/** Name servers that are silent. Any other answer may be one of those that do not know a name. */
const SILENT = ['ETIMEOUT', 'ECANCELLED']

/** The look-up of the machine that is under way for a name that the name servers do not have. */
let asking: Promise<unknown> = Promise.resolve()

/**
 * The addresses of a name, by the name servers of the machine. `dns.lookup` asks them in a thread
 * that cannot be ended, and the process has two of them for that: a few names whose servers are
 * silent would stop every look-up, and with it every connection. So it is asked only for names that
 * the name servers do not have, such as those of a hosts file, and one at a time. Whoever waits for
 * that waits no longer than its signal.
 *
 * @throws the error of the look-up, whose code names the reason
 */
export async function lookUp(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
  if (isLoopback(name)) return askMachine(name)
  try {
    return await askServers(name, signal)
  } catch (error) {
    if (signal.aborted || isSilence(error)) throw error
  }
  return askMachineInTurn(name, signal)
}

/**
 * Fails where nobody answers for a host, so that Node's fetch is not asked for it: that looks up in
 * one of the two threads. If the name servers are silent, the machine may know the name by itself.
 */
export async function assertAnswered(address: string, signal: AbortSignal): Promise<void> {
  const { hostname } = new URL(address)
  const isLiteral = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
  if (isLiteral || isLoopback(hostname) || !fetchConnects()) return
  try {
    await askServers(hostname, signal)
  } catch (error) {
    if (signal.aborted) throw error
    if (isSilence(error)) await askMachineInTurn(hostname, signal)
  }
}

/** False: Node's fetch has the dispatcher of a proxy, or of the application, which looks up itself. */
function fetchConnects(): boolean {
  const dispatcher: unknown = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'))
  return dispatcher === undefined || Object(dispatcher).constructor?.name === 'Agent'
}

function askMachineInTurn(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
  const turn = asking.then(() => {
    signal.throwIfAborted()
    return askMachine(name)
  })
  asking = turn.catch(() => {})
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason)
    signal.addEventListener('abort', end, { once: true })
    turn.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

/**
 * Ends with the signal, or after three seconds. A name that has no addresses of one family may have
 * some of the other, and servers may be silent about one of them alone.
 */
async function askServers(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
  signal.throwIfAborted()
  const resolver = new dns.promises.Resolver({ timeout: 1000, tries: 2 })
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
  return SILENT.includes(errorCode(error))
}

function askMachine(name: string): Promise<LookupAddress[]> {
  return promisify(dns.lookup)(name, { all: true })
}
