import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Issuer } from '../../../lib/identity/authentication/issuer.ts'
import { ListedIssuers } from '../../../lib/identity/authentication/issuers.ts'
import { VerifiedTokens } from '../../../lib/identity/authentication/verified-tokens.ts'
import { readKeySet } from '../../../lib/identity/jwks/jwk-set.ts'
import { type KeySource, StaticKeys } from '../../../lib/identity/jwks/key-source.ts'
import { KEY } from '../../helpers/tokens/probe.ts'

const KEYS = readKeySet({ keys: [KEY.publicJwk] })
const TOKENS = new VerifiedTokens(10, 5)

/** An issuer, with a note of what its keys are asked to do. */
function issuer(iss: string, tenants: '*' | string[] = '*', isReady = true) {
  const asked: string[] = []
  const keys: KeySource = Object.assign(new StaticKeys(KEYS), {
    open: () => void asked.push('open'),
    close: () => void asked.push('close'),
    current: () => (isReady ? KEYS : undefined),
    async reload() {
      asked.push('reload')
      return isReady
    },
  })
  const rules = {
    ...{ name: iss, issuer: [iss], algorithms: new Set(['ES256']), clockTolerance: 5 },
    tokenTypes: new Set(['application/at+jwt']),
    tenants: tenants === '*' ? tenants : new Set(tenants),
  }
  return { asked, issuer: new Issuer(keys, rules, TOKENS) }
}

const listed = (...given: ReturnType<typeof issuer>[]) =>
  new ListedIssuers(given.map((each) => each.issuer))

/** Issuers, each with its tenants and whether it has keys, and whether requests can be served. */
const READINESS: readonly [issuers: readonly (readonly ['*' | string[], boolean])[], boolean][] = [
  [[['*', true]], true],
  [[['*', false]], false],
  [
    [
      ['*', true],
      ['*', false],
    ],
    false,
  ],
  [
    [
      ['*', true],
      [['acme'], false],
    ],
    true,
  ],
  [
    [
      ['*', false],
      [['acme'], true],
    ],
    false,
  ],
  [
    [
      [['acme'], false],
      [['b'], true],
    ],
    true,
  ],
  [[[['acme'], false]], false],
]

for (const [given, expected] of READINESS) {
  test(`issuers ${JSON.stringify(given)} are ${expected ? '' : 'not '}ready`, () => {
    const issuers = given.map(([tenants, isReady], i) => issuer(`${i}`, tenants, isReady))
    assert.equal(listed(...issuers).isReady, expected)
  })
}
