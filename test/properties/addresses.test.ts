import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { TenantAddresses } from '../../lib/identity/tenants/tenant-addresses.ts'
import { isTenantName } from '../../lib/identity/tenants/tenant-name.ts'
import { anyCharacter } from '../helpers/arbitraries/any-character.ts'
import { holds } from '../helpers/arbitraries/property.ts'
import { goodToken, openProbe } from '../helpers/tokens/probe.ts'

const resource = 'https://api.test/v1/:tenant/mcp'
const addresses = new TenantAddresses(resource, 'tenant')
const probe = await openProbe({ resource, superuserResource: 'all:all' })
after(() => probe.app.close())

const name = fc
  .oneof(
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 20 }),
    fc.string({
      unit: fc.constantFrom('.', '%', '2', 'e', 'E', 'F', '/', '\\', '?', '#', ':', 'a'),
    }),
    fc.constantFrom('.', '..', '%2e', ':tenant', '__proto__'),
  )
  .filter((text) => isTenantName(text))

test('each name has one address of its own, but for those that are steps in a path', async (t) => {
  await holds(
    t,
    fc.asyncProperty(name, async (tenant) => {
      const address = addresses.of(tenant)
      if (tenant === '.' || tenant === '..') return assert.equal(address, undefined)
      assert.ok(address !== undefined, 'an address')
      assert.equal(new URL(address).href, address)
      assert.equal(addresses.tenantOf(address), tenant)
    }),
  )
})

test('a text that counts as the address of a tenant is that address to any URL parser', async (t) => {
  const piece = fc.oneof(
    fc.constantFrom('https://api.test/v1/', '/mcp', 'a', '%61', '%2F', '%2e', '.', '..', '/', '\\'),
    fc.constantFrom(
      '?',
      '#',
      '@',
      ':',
      ' ',
      '\t',
      '%',
      '%zz',
      'é',
      '\ud800',
      '%C3%A9',
      'API',
      '%00',
    ),
    fc.string({ unit: anyCharacter, maxLength: 3 }),
  )
  const text = fc.oneof(
    fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join('')),
    fc.array(piece, { maxLength: 4 }).map((all) => `https://api.test/v1/${all.join('')}/mcp`),
  )
  await holds(
    t,
    fc.asyncProperty(text, async (address) => {
      const tenant = addresses.tenantOf(address)
      if (tenant === undefined) return
      const { origin, pathname, search, hash, username } = new URL(address)
      assert.deepEqual([origin, search, hash, username], ['https://api.test', '', '', ''])
      const [empty, v1, segment = '', mcp, ...more] = pathname.split('/')
      assert.deepEqual([empty, v1, mcp, more], ['', 'v1', 'mcp', []])
      assert.equal(decodeURIComponent(segment), tenant)
    }),
  )
})

test('a token opens the tenants that it names, and no other, whoever sends it', async (t) => {
  const names = fc.uniqueArray(
    name.filter((each) => each !== '.' && each !== '..'),
    { minLength: 2, maxLength: 5 },
  )
  await holds(
    t,
    fc.asyncProperty(names, fc.boolean(), async ([tenant = '', ...others], isNamed) => {
      const named = isNamed ? [...others, tenant] : others
      const aud = named.map((each) => addresses.of(each))
      const token = goodToken({ aud, resources: { '*': ['all:all'] } })
      const url = `/query?tenant=${encodeURIComponent(tenant)}`
      const { statusCode } = await probe.ask(token, url)
      assert.equal(statusCode, isNamed ? 200 : 401)
    }),
  )
})
