import type { AddressInfo } from 'node:net'
import { NO_KEYS } from '../identity/jwks/jwk-set.ts'
import { asksForProof } from '../identity/jwt/confirmation.ts'
import { EVERY_TENANT } from '../identity/tenants/tenant-name.ts'
import { isLoopback } from '../platform/http/urls.ts'
import type { LoadedSettings } from './load-settings.ts'

export function bootWarnings(loaded: LoadedSettings): string[] {
  const { settings, mockUser } = loaded
  const warnings: string[] = []
  if (mockUser) {
    const names = Object.keys(mockUser.resources ?? {}).filter((name) => name !== EVERY_TENANT)
    const tenants = names.join(', ') || 'none'
    const { sub, preferred_username: name = sub } = mockUser
    warnings.push(
      `dev mode: every request acts as the mock user ${name}, with the rights of tenants: ${tenants}; never use it in production`,
    )
  } else {
    warnings.push(...productionWarnings(loaded))
  }
  if (settings.superuserResource !== undefined && settings.tenants === undefined) {
    warnings.push('superuserResource without tenants: a superuser may act for any tenant name')
  }
  return warnings
}

export function listeningWarning(
  { mockUser }: LoadedSettings,
  addresses: readonly (AddressInfo | string)[],
): string | undefined {
  const beyond = addresses
    .flatMap((address) => (typeof address === 'string' ? [] : [address.address]))
    .filter((address) => !isLoopback(address))
  if (!mockUser || beyond.length === 0) return undefined
  return `dev mode listens beyond loopback, on ${beyond.join(', ')}`
}

function productionWarnings({ settings, given, issuers, addresses }: LoadedSettings): string[] {
  const warnings: string[] = []
  const { publicKeysUrl, tenants, confirmation, proofSeen } = settings
  const all = typeof issuers === 'function' ? [] : issuers
  // Without keys, claims come from opaqueToken alone.
  const listed = all.filter(({ keySet }) => keySet !== NO_KEYS)
  const hasDefaultKeys = !given.has('publicKeysUrl') && !given.has('issuers')
  if (hasDefaultKeys && listed.some((entry) => entry.publicKeysUrl !== undefined)) {
    warnings.push(
      `publicKeysUrl is not configured: using the default ${publicKeysUrl}, where npx fastify-tenant-auth authority listens`,
    )
  }
  for (const { name, publicKeysUrl: url } of listed) {
    if (url === undefined || !isPlainBeyondLoopback(url)) continue
    warnings.push(
      `publicKeysUrl of the issuer ${name} is plain http beyond loopback: the keys can be replaced on the way`,
    )
  }
  if (typeof tenants === 'string' && isPlainBeyondLoopback(tenants)) {
    warnings.push('tenants is plain http beyond loopback: the list can be replaced on the way')
  }
  if (listed.some(({ issuer }) => issuer === undefined)) {
    warnings.push('issuer is not configured: a token of any issuer with these keys is accepted')
  }
  if (addresses === undefined && listed.some(({ audience }) => audience === undefined)) {
    warnings.push('audience is not configured: any token of that server is accepted')
  }
  if (confirmation === 'ignore') {
    warnings.push(
      'confirmation is ignored: a token that is bound to its sender is accepted from anybody, so a gateway in front must check it',
    )
  }
  if (asksForProof(confirmation) && proofSeen === undefined) {
    warnings.push(
      'proofSeen is not configured: DPoP proofs are remembered by this service alone, so several processes need one table, such as redisProofs',
    )
  }
  return warnings
}

function isPlainBeyondLoopback(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !isLoopback(hostname)
}
