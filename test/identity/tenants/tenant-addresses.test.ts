import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metadataAddress, metadataPath } from '../../../lib/identity/tenants/tenant-addresses.ts'

/** Addresses of resources, and of their metadata (RFC 9728 §3.1). */
const ADDRESSES = [
  ['https://api.test', 'https://api.test/.well-known/oauth-protected-resource'],
  ['https://api.test/mcp', 'https://api.test/.well-known/oauth-protected-resource/mcp'],
  ['https://api.test:8443/a/b', 'https://api.test:8443/.well-known/oauth-protected-resource/a/b'],
  ['http://[::1]:1/a:b', 'http://[::1]:1/.well-known/oauth-protected-resource/a:b'],
] as const

for (const [address, metadata] of ADDRESSES) {
  test(`the well-known path is inserted before the path of ${address}`, () => {
    assert.equal(metadataAddress(address), metadata)
    assert.equal(metadataPath(address), new URL(metadata).pathname)
  })
}
