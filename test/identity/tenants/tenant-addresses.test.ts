import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  metadataAddress,
  metadataPath,
  TenantAddresses,
} from '../../../lib/identity/tenants/tenant-addresses.ts'
import { isTenantName } from '../../../lib/identity/tenants/tenant-name.ts'

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

const addresses = new TenantAddresses('https://api.test/:tenant/mcp', 'tenant')
const { decodeURIComponent: decode } = globalThis

/** Of all text that is encoded: each first byte, with each second one, and with some more. */
function* encodedTexts(): Generator<string> {
  const byte = (value: number) => `%${value.toString(16).padStart(2, '0')}`
  const ends = [0x7f, 0x80, 0xbf, 0xc0].map(byte)
  const bytes = Array.from({ length: 256 }, (_, value) => byte(value))
  for (const first of bytes) {
    yield first
    if (first < '%80') continue
    for (const second of bytes) {
      yield first + second
      if (first < '%e0') continue
      for (const third of ends) {
        yield first + second + third
        if (first >= '%f0') for (const fourth of ends) yield first + second + third + fourth
      }
    }
  }
  yield* ['%', '%4', 'a%', '%g1', '%4g', '%C3%A4', '%F0%9F%98%80a', '\u{e4}%C3%A4', '%\u{e4}']
}

test('a name is read as decodeURIComponent does it, without an exception for a bad one', (t) => {
  let failures = 0
  t.mock.method(globalThis, 'decodeURIComponent', (text: string) => {
    try {
      return decode(text)
    } catch (error) {
      failures += 1
      throw error
    }
  })
  for (const text of encodedTexts()) {
    let name: string | undefined
    try {
      name = decode(text)
    } catch {}
    const expected = isTenantName(name) && !['.', '..'].includes(name) ? name : undefined
    assert.equal(addresses.tenantOf(`https://api.test/${text}/mcp`), expected, text)
  }
  assert.equal(failures, 0)
})

test('a name of any length has an address, and no address has another segment', () => {
  const longest = '\u20ac'.repeat(255)
  assert.equal(addresses.tenantOf(`${addresses.of(longest)}`), longest)
  for (const segment of ['', 'a/b', 'a?b', 'a#b', 'a\\b', 'a'.repeat(256)]) {
    assert.equal(addresses.tenantOf(`https://api.test/${segment}/mcp`), undefined, segment)
  }
})
