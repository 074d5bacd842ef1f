import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exchange, fetchFinding } from '../../../../lib/entrypoints/cli/doctor/fetch-advice.ts'
import { FetchFailure } from '../../../../lib/platform/http/failure.ts'

const url = 'https://a.test/keys?secret'
const fetched = { what: 'keys', url, setting: 'public_keys_url', limit: 'keys_timeout' }
const exchange = () => new Exchange(1, 1)

/** Codes that a test on loopback cannot bring about. */
const CODES: readonly [code: string, cure: RegExp][] = [
  ['ENOTFOUND', /^no such host: correct it in public_keys_url$/],
  ['CERT_HAS_EXPIRED', /^give the server a certificate of a known authority/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /^give the server a certificate/],
  ['SELF_SIGNED_CERT_IN_CHAIN', /^give the server a certificate/],
  ['ENETUNREACH', /^look at the network/],
  ['HTTPParserError', /^what listens there speaks no HTTP/],
]

for (const [code, expected] of CODES) {
  test(`${code} has a cure`, () => {
    const finding = fetchFinding(fetched, new FetchFailure(`no answer (${code})`), exchange())
    assert.equal(finding.what, `keys: https://a.test/keys: no answer (${code})`)
    assert.match(finding.cure ?? '', expected)
  })
}

test('if nothing listens at the default address, the cure is the test authority', () => {
  const local = { ...fetched, url: 'http://localhost:8081/openidconnect/public_keys' }
  const finding = fetchFinding(local, new FetchFailure('no answer (ECONNREFUSED)'), exchange())
  assert.equal(finding.cure, 'start your server, or npx fastify-tenant-auth authority')
})

/** The target of a redirect, and the part that is shown. */
const TARGETS: readonly [location: string, shown: string][] = [
  ['/elsewhere?code=secret', ', a redirect to https://a.test/elsewhere'],
  ['//[', ''],
  ['javascript:alert(1)', ''],
]

for (const [location, shown] of TARGETS) {
  test(`origin and path of a redirect to ${location} are shown, if they are an address`, () => {
    const asked = exchange()
    asked.limits.onAnswer?.({ status: 302, headers: new Headers({ location }) })
    const finding = fetchFinding(fetched, new FetchFailure('answered with status 302', 302), asked)
    assert.equal(finding.what, `keys: https://a.test/keys: answered with status 302${shown}`)
  })
}
