import assert from 'node:assert/strict'
import { test } from 'node:test'
import tenantAuth from '../../lib/index.ts'
import { configError } from '../helpers/app/config-error.ts'
import { authority, bareApp } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const folder = tempFolder()
const { publicKeys, issuer } = authority
const FORBIDDEN = '403 ERR_AUTH_TENANT_FORBIDDEN'
const INVALID = '401 ERR_AUTH_TOKEN_INVALID'

/** An audience in the file, that of a token, and what becomes of it. */
const AUDIENCES: readonly [written: string, audience: string, verdict: string][] = [
  ['"lunch admin"', 'lunch admin', '200'],
  ['"lunch admin"', 'admin', INVALID],
  ['"lunch admin"', 'lunch', INVALID],
  ['"lunch admin", api', 'api', '200'],
  ["'lunch, admin' api", 'lunch, admin', '200'],
  ["'lunch, admin' api", 'admin', INVALID],
  ['lunch admin', 'admin', '200'],
]

for (const [written, audience, verdict] of AUDIENCES) {
  test(`with audience = ${written} a token for ${audience} gets ${verdict}`, async (t) => {
    const app = bareApp(t)
    const configFile = folder.write(`[auth]\naudience = ${written}\n`)
    await app.register(tenantAuth, { configFile, publicKeys, issuer })
    app.get('/', async () => 'ok')
    const headers = await authority.headers({}, { audience })
    assert.equal(outcome(await app.inject({ url: '/', headers })), verdict)
  })
}

/** A pin in the file, a tenant, and what becomes of a request for it. */
const TENANTS: readonly [written: string, tenant: string, verdict: string][] = [
  ['"acme corp"', 'acme corp', '200'],
  ['"acme corp"', 'acme', FORBIDDEN],
  ['"acme corp"', 'corp', FORBIDDEN],
  ['"acme corp" zebra', 'zebra', '200'],
  ['acme corp', 'corp', '200'],
]

for (const [written, tenant, verdict] of TENANTS) {
  test(`an issuer pinned by tenants = ${written} gets ${verdict} for ${tenant}`, async (t) => {
    const app = bareApp(t)
    const url = await authority.listen()
    t.after(() => authority.close())
    const rules = `issuer = ${issuer}\naudience = api\npublic_keys_url = ${url}\n`
    const configFile = folder.write(`[auth.acme]\n${rules}tenants = ${written}\n`)
    await app.register(tenantAuth, { configFile })
    app.get('/:tenant/x', async () => 'ok')
    const headers = await authority.headers({ resources: { [tenant]: [] } })
    const response = await app.inject({ url: `/${encodeURIComponent(tenant)}/x`, headers })
    assert.equal(outcome(response), verdict)
  })
}

/** Every list that an INI file can give. */
const LISTS: readonly [line: string, expected: string][] = [
  ['issuer == https://a.test', 'one ='],
  ['issuer = "https://a.test', 'both quotes or none'],
  ['audience = a "b', 'both quotes or none'],
  ['audience = ""', 'a string or a list of strings'],
  ['algorithms = "ES256 RS256"', 'a list of '],
  ['token_types = "at+jwt JWT"', 'a list of token types'],
  ['log_bindings = "sub tenant"', 'a list of tenant, sub, issuer'],
  ['[tenants]\nids = "acme', 'both quotes or none'],
]

for (const [line, expected] of LISTS) {
  test(`${JSON.stringify(line)} stops the boot`, async (t) => {
    const configFile = folder.write(`[auth]\n${line}\n`)
    await assert.rejects(
      async () => bareApp(t).register(tenantAuth, { configFile, publicKeys }),
      configError(`: expected ${expected}`),
    )
  })
}
