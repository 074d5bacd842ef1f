import assert from 'node:assert/strict'
import test from 'node:test'
import { readIssuerRules } from '../../lib/config/issuer-config.ts'
import { loadSettings } from '../../lib/config/load-settings.ts'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { lunchApp } from './lunch.ts'
import { asked, listed } from './several-issuers.ts'

const OWN = 'https://login.example.com'
const ACME = 'https://idp.acme.example/realms/staff'

test('each issuer of the list speaks for its tenants, and its keys are discovered', () => {
  const { issuers } = loadSettings(listed)
  assert.ok(typeof issuers !== 'function', 'a list')
  assert.deepEqual(
    issuers.map(({ issuer, tenants, audience }) => [issuer, tenants, audience]),
    [
      [[OWN], '*', ['lunch']],
      [[ACME], ['acme', 'acme-test'], ['lunch']],
    ],
  )
  assert.deepEqual(
    issuers.map(({ publicKeys, publicKeysUrl }) => publicKeys ?? publicKeysUrl),
    [undefined, undefined],
  )
})

test('the function knows a customer’s issuer, and no other', async () => {
  const { issuers, settings } = loadSettings(asked)
  assert.ok(typeof issuers === 'function', 'a function')
  const entry = readIssuerRules(ACME, await issuers(ACME), settings)
  assert.deepEqual([entry?.name, entry?.tenants], ['acme', ['acme', 'acme-test']])
  assert.equal(readIssuerRules(OWN, await issuers(OWN), settings), null)
})

test('two authorities of one test speak for the tenants that each is pinned to', async (t) => {
  const own = await createTestAuthority({ issuer: 'https://login.test' })
  const acme = await createTestAuthority({ issuer: 'https://acme.test' })
  const app = await lunchApp({
    issuers: [own.issuerRules({ tenants: '*' }), acme.issuerRules({ tenants: ['acme'] })],
  })
  t.after(() => app.close())

  const user = { resources: { acme: ['menu:read'], brook: ['menu:read'] } }
  const ask = async (authority: typeof own, tenant: string) =>
    app.inject({ url: `/${tenant}/todays-menu`, headers: await authority.headers(user) })
  assert.equal((await ask(own, 'acme')).statusCode, 200)
  assert.equal((await ask(own, 'brook')).statusCode, 200)
  assert.equal((await ask(acme, 'acme')).statusCode, 200)
  assert.equal((await ask(acme, 'brook')).statusCode, 403)
})
