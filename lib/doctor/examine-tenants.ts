import { fetchText } from '../outside/fetch-json.ts'
import { shownAddress } from '../outside/protected-address.ts'
import type { Settings } from '../settings/options.ts'
import { MAX_LIST_BYTES } from '../tenants/remote-tenants.ts'
import { readTenantList } from '../tenants/tenant-list.ts'
import { Exchange } from './exchange.ts'
import { fetchFinding } from './fetch-cures.ts'
import { doubtful, type Finding, fine } from './finding.ts'

/** The list of tenants, where it has an address. */
export async function examineTenants({
  tenants,
  tenantsTimeout,
}: Pick<Settings, 'tenants' | 'tenantsTimeout'>): Promise<Finding[]> {
  if (typeof tenants !== 'string') return []
  const exchange = new Exchange(MAX_LIST_BYTES, tenantsTimeout)
  const fetched = { what: 'tenants', url: tenants, setting: 'tenant_url', limit: 'tenants_timeout' }
  try {
    const { size } = await readTenantList(await fetchText(tenants, exchange.limits))
    const where = `tenants at ${shownAddress(tenants)}`
    if (size > 0) return [fine(`${where}: names of ${size}`)]
    return [doubtful(`${where}: the list is empty`, 'until it has names, every tenant is unknown')]
  } catch (error) {
    return [fetchFinding(fetched, error, exchange)]
  }
}
