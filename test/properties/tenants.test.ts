import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { anyResources, anyText } from '../helpers/arbitraries/arbitrary-claims.ts'
import { holds } from '../helpers/arbitraries/property.ts'
import { expectUnspoiltPrototypes } from '../helpers/processes/unspoilt.ts'
import { forge } from '../helpers/tokens/forge.ts'
import { goodClaims, goodToken, KEY, openProbe } from '../helpers/tokens/probe.ts'

expectUnspoiltPrototypes()
const SUPERUSER = 'authz:superuser'
const probe = await openProbe({ superuserResource: SUPERUSER })
after(() => probe.app.close())

/** Written in another way than the plugin does it. */
function isName(tenant: string): boolean {
  const isControl = (code: number) => code < 32 || (code > 126 && code < 160)
  const codes = Array.from({ length: tenant.length }, (_, at) => tenant.charCodeAt(at))
  return tenant !== '' && tenant !== '*' && codes.length <= 255 && !codes.some(isControl)
}

test('a user is let into a tenant only if the token holds it as an own key, or as a superuser', async (t) => {
  const text = fc.oneof(anyText, fc.string({ minLength: 250, maxLength: 260 }))
  await holds(
    t,
    fc.asyncProperty(text, anyResources, fc.boolean(), async (tenant, resources, isSuperuser) => {
      const held: Record<string, string[]> = JSON.parse(resources)
      if (isSuperuser) held['*'] = [SUPERUSER]
      else if (Object.hasOwn(held, '*')) held['*'] = ['menu:read']
      const claims = { ...goodClaims(), resources: undefined }
      const payload = `${JSON.stringify(claims).slice(0, -1)},"resources":${JSON.stringify(held)}}`
      const token = forge(KEY, { payload })
      const isHeld = isSuperuser || (tenant !== '*' && Object.hasOwn(held, tenant))
      const expected = isName(tenant) ? (isHeld ? 200 : 403) : 400
      const encoded = encodeURIComponent(tenant)
      const inQuery = await probe.ask(token, `/query?tenant=${encoded}`)
      assert.equal(inQuery.statusCode, expected)
      if (expected === 200) assert.deepEqual(inQuery.json(), { tenant })
      // The test's own client resolves these before it asks.
      if (tenant === '' || tenant === '.' || tenant === '..') return
      const inPath = await probe.ask(token, `/t/${encoded}`)
      if (tenant.length <= 255) assert.equal(inPath.statusCode, expected)
      else assert.match(`${inPath.statusCode}`, /^4/)
      if (expected === 200) assert.equal(inPath.json().tenant, tenant)
    }),
  )
})

/** This user may act for every tenant, so only the name decides. */
const ANYWHERE = goodToken({ resources: { '*': [SUPERUSER] }, exp: 1e12 })

const PIECES = [
  'tenant',
  'tenant=',
  'tenant=acme',
  'tenant=globex',
  'tenant[]=acme',
  'tenant[0]=acme',
  'tenant[x]=acme',
  'tenant.x=acme',
  '%74enant=acme',
  'Tenant=acme',
  'tenant%00=acme',
  'tenant=%00',
  'tenant=a%2Fb',
  'tenant=a+b',
  'tenant=*',
  'tenant=%2A',
  'tenant=%C3%A9',
  'tenant=%E9',
  'tenant=%',
  'tenant=a=b',
  ';tenant=acme',
  '__proto__=acme',
  '__proto__[tenant]=acme',
  'constructor=acme',
]

test('the tenant of any query is null or exactly one decoded string', async (t) => {
  const piece = fc.oneof(
    fc.constantFrom(...PIECES),
    anyText.map(encodeURIComponent),
    fc.webQueryParameters(),
  )
  await holds(
    t,
    fc.asyncProperty(fc.array(piece, { maxLength: 4 }), async (pieces) => {
      const response = await probe.ask(ANYWHERE, `/optional?${pieces.join('&')}`)
      const given = tenantsOf(String(response.raw.req.url))
      if (response.statusCode === 200) {
        const { tenant } = response.json()
        assert.ok(given.length <= 1, `${given.length} tenants`)
        assert.equal(tenant, given[0] ?? null)
      } else {
        assert.equal(response.statusCode, 400)
        assert.equal(given.length > 1 || given.some((tenant) => !isName(tenant)), true)
      }
    }),
  )
})

/** Every value of `tenant` in a query, decoded if possible. */
function tenantsOf(url: string): string[] {
  const query = url.split('?').slice(1).join('?')
  const pairs = query.split('&').map((pair) => {
    const [name = '', ...value] = pair.split('=')
    return [decoded(name), decoded(value.join('='))] as const
  })
  return pairs.filter(([name]) => name === 'tenant').map(([, value]) => value)
}

function decoded(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}

test('the tenant of any path is exactly the decoded segment, with any query', async (t) => {
  const segment = fc.oneof(
    anyText.map(encodeURIComponent),
    fc.webSegment(),
    fc.constantFrom(
      'a%2Fb',
      '%252F',
      '%2e%2e',
      '%00',
      '%',
      '%C3',
      'a%20b',
      'acme;x',
      'acme%3Ftenant=x',
    ),
  )
  const query = fc.constantFrom('', '?tenant=globex', '?tenant=a&tenant=b', '?tenant=')
  await holds(
    t,
    fc.asyncProperty(segment, query, async (text, search) => {
      const response = await probe.ask(ANYWHERE, `/t/${text}${search}`)
      const asked = /^\/t\/([^/?#]*)/.exec(String(response.raw.req.url))?.[1]
      if (response.statusCode !== 200) {
        assert.match(`${response.statusCode}`, /^4/)
        return
      }
      assert.ok(asked !== undefined, 'a tenant was asked for')
      assert.equal(response.json().tenant, decodeURIComponent(asked))
    }),
  )
})
