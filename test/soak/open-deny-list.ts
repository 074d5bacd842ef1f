import { Redis } from 'ioredis'
import type { DenyList, KeptEntry } from '../../lib/entrypoints/revocation/index.ts'
import type { Task } from './orders.ts'
import { DENY_LIST } from './settings.ts'

export interface OpenDenyList {
  readonly list: DenyList
  /** Ends what the application itself has opened. */
  close(): void
}

/** Milliseconds after which a server is given up. */
const LIMIT = 5000

/** The deny list of a process, in Redis or at the soak's own server. */
export async function openDenyList({ lib, storeUrl }: Task): Promise<OpenDenyList> {
  const { denyList, redisDenyList }: typeof import('../../lib/entrypoints/revocation/index.ts') =
    await import(`${lib}/entrypoints/revocation/index.ts`)
  if (!storeUrl.startsWith('redis:')) {
    return { list: denyList({ ...DENY_LIST, ...serverAt(storeUrl) }), close: () => {} }
  }
  const client = new Redis(storeUrl, { socketTimeout: LIMIT, retryStrategy: () => 100 })
  // Without a listener an outage would end the process.
  client.on('error', () => {})
  return { list: redisDenyList({ client, ...DENY_LIST }), close: () => client.disconnect() }
}

function serverAt(url: string) {
  const ask = async (init: RequestInit, query = '') => {
    const response = await fetch(`${url}${query}`, { ...init, signal: AbortSignal.timeout(LIMIT) })
    if (!response.ok) throw new Error(`answered with ${response.status}`)
    return response.text()
  }
  return {
    changes: async (cursor: number | null) => JSON.parse(await ask({}, `?after=${cursor ?? 0}`)),
    append: (entry: KeptEntry) => ask({ method: 'POST', body: JSON.stringify(entry) }),
  }
}
