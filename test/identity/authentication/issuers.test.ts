import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERR_AUTH_TOKEN_INVALID } from '../../../lib/errors.ts'
import { Issuer } from '../../../lib/identity/authentication/issuer.ts'
import { ListedIssuers } from '../../../lib/identity/authentication/issuers.ts'
import { VerifiedTokens } from '../../../lib/identity/authentication/verified-tokens.ts'
import { KeySet } from '../../../lib/identity/jwks/jwk-set.ts'
import { type KeySource, StaticKeys } from '../../../lib/identity/jwks/key-source.ts'
import { KEY } from '../../helpers/tokens/probe.ts'

const KEYS = new KeySet({ keys: [KEY.publicJwk] })
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

test('the only issuer judges each token, whatever its issuer is', () => {
  const one = issuer('a')
  for (const iss of ['a', 'b', undefined]) assert.equal(listed(one).find({ iss }), one.issuer)
})

test('one of several issuers is found by its identifier, and no other is accepted', () => {
  const [one, two] = [issuer('a'), issuer('b')]
  const issuers = listed(one, two)
  assert.deepEqual([issuers.find({ iss: 'a' }), issuers.find({ iss: 'b' })], issuers.all())
  for (const iss of ['c', '', 'A', '__proto__', undefined]) {
    const unverified = iss === undefined ? 'nothing' : `"${iss}"`
    assert.throws(
      () => issuers.find({ iss }),
      (error) => {
        assert.ok(error instanceof ERR_AUTH_TOKEN_INVALID, `${error}`)
        assert.equal(error.reason, 'the issuer is not accepted')
        assert.deepEqual(error.mismatch, { of: 'iss', expected: '"a" or "b"', unverified })
        return true
      },
    )
  }
})

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

test('the keys of all issuers are opened and closed', () => {
  const [one, two] = [issuer('a'), issuer('b')]
  const issuers = listed(one, two)
  issuers.open()
  issuers.close()
  assert.deepEqual([one.asked, two.asked], Array(2).fill(['open', 'close']))
})

test('the keys of one issuer, or of all, are fetched on demand', async () => {
  const [one, two] = [issuer('a'), issuer('b')]
  const issuers = listed(one, two)
  await issuers.refreshKeys('b')
  assert.deepEqual([one.asked, two.asked], [[], ['reload']])
  await issuers.refreshKeys()
  assert.deepEqual([one.asked, two.asked], [['reload'], ['reload', 'reload']])
  await assert.rejects(issuers.refreshKeys('c'), {
    code: 'ERR_AUTH_KEYS_UNAVAILABLE',
    retryAfter: 1,
  })
  const failing = listed(one, issuer('c', '*', false))
  await assert.rejects(failing.refreshKeys(), { code: 'ERR_AUTH_KEYS_UNAVAILABLE' })
})
