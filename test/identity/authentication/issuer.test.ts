import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Issuer } from '../../../lib/identity/authentication/issuer.ts'
import { VerifiedTokens } from '../../../lib/identity/authentication/verified-tokens.ts'
import { KeySet } from '../../../lib/identity/jwks/jwk-set.ts'
import { StaticKeys } from '../../../lib/identity/jwks/key-source.ts'
import { forgeKey } from '../../helpers/tokens/forge.ts'

const KEYS = new KeySet({ keys: [forgeKey('ES256', 'one').publicJwk] })

const FAR = 4_102_444_800

/** Milliseconds for a new token that names so many tenants, with 1 700 ids for all; the least. */
function costOf(tenants: number): number {
  const ids = Array.from({ length: 1700 }, (_, at) => `menu:${at}`)
  const names = Array.from({ length: tenants }, (_, at) => `t${at}`)
  const own = names.map((name): [string, string[]] => [name, [`own:${name}`]])
  const resources = JSON.stringify({ '*': ids, ...Object.fromEntries(own) })
  const tokens = new VerifiedTokens(100, 5)
  const rules = { name: 'a', tenants: new Set(names), clockTolerance: 5 }
  const header = { algorithms: new Set(['ES256']), tokenTypes: new Set(['jwt']) }
  const issuer = new Issuer(new StaticKeys(KEYS), { ...rules, ...header }, tokens)
  const costs = Array.from({ length: 30 }, (_, at) => {
    const claims = { sub: 'u', exp: FAR, resources: JSON.parse(resources) }
    const from = performance.now()
    const verified = issuer.accept(claims, FAR)
    verified.principal.in('t0').require('own:t0', 'menu:0')
    tokens.set(`token ${at}`, verified)
    return performance.now() - from
  })
  return Math.min(...costs)
}

test('what is granted in every tenant costs once, and not once for each of a hundred', () => {
  const [many, one] = [costOf(100), costOf(1)]
  assert.equal(many < 4 * one, true, `${many} ms, and ${one} ms for one`)
})
