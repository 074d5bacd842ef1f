import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertUnproved, boundApp } from '../helpers/app/bound-app.ts'
import { as, authority, bareApp, guardedApp, RIGHTS, untyped } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { boundToken, HOLDER, PUBLIC, proofKey, proofOf, provedBy } from '../helpers/tokens/bound.ts'

const { thumbprint } = HOLDER
const INVALID = '401 ERR_AUTH_TOKEN_INVALID'

test('the holder of a key is let in, with each algorithm, and on each request anew', async (t) => {
  for (const alg of ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'RS256', 'RS512', 'PS256']) {
    // `algorithms` speaks of tokens.
    const app = await boundApp(t, { algorithms: ['ES256'] })
    const key = await proofKey(alg)
    const token = await boundToken(key, { sub: alg })
    for (const _ of ['unknown token', 'known token']) {
      const response = await app.inject({ url: '/me', headers: provedBy(key, token) })
      assert.equal(outcome(response), '200', alg)
      assert.equal(response.body, alg)
    }
    const bare = { authorization: `Bearer ${token}` }
    assertUnproved(await app.inject({ url: '/me', headers: bare }), 'invalid_token', 'Bearer')
  }
})

test('without a cache of tokens the same holds', async (t) => {
  const app = await boundApp(t, { tokenCacheSize: 0 })
  const token = await boundToken()
  for (const _ of [1, 2]) {
    const headers = provedBy(HOLDER, token)
    assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
    const bare = { authorization: `Bearer ${token}` }
    assertUnproved(await app.inject({ url: '/me', headers: bare }), 'invalid_token', 'Bearer')
  }
})

/** Spellings of the scheme, for a bound token with a good proof. */
const SCHEMES: readonly [before: string, expected: '200' | 'invalid_token' | 'refused'][] = [
  ['DPoP ', '200'],
  ['dpop ', '200'],
  ['DPOP ', '200'],
  ['dPoP ', '200'],
  ['DPoP   ', '200'],
  ['Bearer ', 'invalid_token'],
  ['bearer ', 'invalid_token'],
  ['BEARER ', 'invalid_token'],
  ['bEaReR  ', 'invalid_token'],
  ['DPoP\t', 'refused'],
  ['DPoP', 'refused'],
  ['DPoP,', 'refused'],
  ['DPoP=', 'refused'],
  ['Bearer\t', 'refused'],
  ['DPoP Bearer ', 'refused'],
  ['Bearer DPoP ', 'refused'],
  ['Bearer, DPoP ', 'refused'],
  ['DPoPx ', 'refused'],
  ['Basic ', 'refused'],
  ['', 'refused'],
]

for (const [before, expected] of SCHEMES) {
  test(`a bound token after ${JSON.stringify(before)} is answered: ${expected}`, async (t) => {
    const app = await boundApp(t)
    const token = await boundToken()
    for (const _ of ['unknown token', 'known token']) {
      const headers = { ...provedBy(HOLDER, token), authorization: before + token }
      const response = await app.inject({ url: '/me', headers })
      if (expected === 'invalid_token') assertUnproved(response, expected, 'Bearer')
      else if (expected === '200') assert.equal(outcome(response), '200')
      else assert.equal(response.statusCode, 401)
      const good = await app.inject({ url: '/me', headers: provedBy(HOLDER, token) })
      assert.equal(outcome(good), '200')
    }
  })
}

test('where binding is required, a cnf that names nothing is no binding', async (t) => {
  const app = await boundApp(t, { confirmation: 'require' })
  for (const cnf of [undefined, {}]) {
    const token = await authority.token({ resources: RIGHTS, cnf })
    const bare = { authorization: `Bearer ${token}` }
    for (const headers of [bare, provedBy(HOLDER, token)]) {
      assert.equal(outcome(await app.inject({ url: '/me', headers })), INVALID)
    }
  }
})

test('two tokens, or two Authorization headers in one, are refused', async (t) => {
  const app = await boundApp(t)
  const token = await boundToken()
  for (const authorization of [
    `DPoP ${token} ${token}`,
    `DPoP ${token}, DPoP ${token}`,
    `DPoP ${token},Bearer ${token}`,
    `DPoP ${token} `,
    'DPoP ',
    'DPoP',
  ]) {
    const headers = { ...provedBy(HOLDER, token), authorization }
    const response = await app.inject({ url: '/me', headers })
    // HTTP itself takes white space away from the end.
    if (authorization.endsWith(`${token} `)) continue
    assert.equal(outcome(response), INVALID, authorization.replaceAll(token, '…'))
  }
})

/** `cnf`, and what is answered to the token as `DPoP` with a good proof, and as `Bearer`. */
const SHAPES: readonly [
  what: string,
  cnf: unknown,
  proved: '200' | '401',
  bearer: '200' | '401',
][] = [
  ['null', null, '401', '401'],
  ['a list', [{ jkt: thumbprint }], '401', '401'],
  ['an empty list', [], '401', '401'],
  ['a string', thumbprint, '401', '401'],
  ['an empty string', '', '401', '401'],
  ['a number', 7, '401', '401'],
  ['true', true, '401', '401'],
  ['false', false, '401', '401'],
  // It names nothing: an unbound token.
  ['an empty object', {}, '401', '200'],
  ['an unknown member', { kid: 'x' }, '401', '401'],
  ['the whole key', { jwk: HOLDER.jwk }, '401', '401'],
  ['a misspelt jkt', { JKT: thumbprint }, '401', '401'],
  ['a misspelt x5t', { x5t: thumbprint }, '401', '401'],
  ['jkt', { jkt: thumbprint }, '200', '401'],
  ['jkt and unknown ones', { jkt: thumbprint, kid: 'x', 'x-osc': {} }, '200', '401'],
  ['jkt null', { jkt: null }, '401', '401'],
  ['jkt a number', { jkt: 5 }, '401', '401'],
  ['jkt a list', { jkt: [thumbprint] }, '401', '401'],
  ['jkt empty', { jkt: '' }, '401', '401'],
  ['jkt with padding', { jkt: `${thumbprint}=` }, '401', '401'],
  ['jkt too short', { jkt: thumbprint.slice(1) }, '401', '401'],
  [
    'jkt in hexadecimal',
    { jkt: Buffer.from(thumbprint, 'base64url').toString('hex') },
    '401',
    '401',
  ],
  ['jkt and x5t null', { jkt: thumbprint, 'x5t#S256': null }, '401', '401'],
  ['jkt and x5t a number', { jkt: thumbprint, 'x5t#S256': 5 }, '401', '401'],
  ['jkt and x5t of none', { jkt: thumbprint, 'x5t#S256': thumbprint }, '401', '401'],
  ['x5t alone, without a certificate', { 'x5t#S256': thumbprint }, '401', '401'],
  ['x5t null', { 'x5t#S256': null }, '401', '401'],
  ['jkt null beside x5t', { jkt: null, 'x5t#S256': thumbprint }, '401', '401'],
  ['jkt in the prototype', JSON.parse(`{"__proto__":{"jkt":"${thumbprint}"}}`), '401', '401'],
]

for (const [what, cnf, proved, bearer] of SHAPES) {
  test(`cnf that is ${what} is answered ${proved} with a proof, ${bearer} without`, async (t) => {
    for (const tokenCacheSize of [0, 100]) {
      const app = await boundApp(t, { tokenCacheSize })
      const token = await authority.token({ resources: RIGHTS, cnf })
      for (const _ of [1, 2]) {
        const first = await app.inject({ url: '/me', headers: provedBy(HOLDER, token) })
        assert.equal(outcome(first), proved === '200' ? '200' : INVALID)
        const headers = { authorization: `Bearer ${token}` }
        const second = await app.inject({ url: '/me', headers })
        assert.equal(outcome(second), bearer === '200' ? '200' : INVALID)
      }
    }
  })
}

test('a token from elsewhere counts as DPoP where there is a proof, and as Bearer else', async (t) => {
  const tokenFrom = ({ headers }: { headers: Record<string, unknown> }) =>
    typeof headers['x-token'] === 'string' ? headers['x-token'] : null
  const app = await boundApp(t, { tokenFrom })
  const bound = await boundToken()
  const unbound = await authority.token({ resources: RIGHTS })
  const ask = async (token: string, proof?: string) => {
    const headers = { 'x-token': token, ...(proof !== undefined && { dpop: proof }) }
    return outcome(await app.inject({ url: '/me', headers }))
  }
  assert.equal(await ask(bound, proofOf(HOLDER, { token: bound })), '200')
  assert.equal(await ask(bound), INVALID)
  assert.equal(await ask(bound, ''), INVALID)
  assert.equal(await ask(bound, 'x'), INVALID)
  assert.equal(await ask(bound, proofOf(HOLDER, { token: unbound })), INVALID)
  assert.equal(await ask(unbound), '200')
})

test('mapClaims takes no binding away, and adds none', async (t) => {
  const mapClaims = (claims: Record<string, unknown>) => {
    delete claims['cnf']
    return { sub: 'u', resources: RIGHTS }
  }
  const app = await boundApp(t, { mapClaims })
  const token = await boundToken()
  for (const _ of [1, 2]) {
    const headers = { authorization: `Bearer ${token}` }
    assert.equal(outcome(await app.inject({ url: '/me', headers })), INVALID)
    assert.equal(outcome(await app.inject({ url: '/me', headers: provedBy(HOLDER, token) })), '200')
  }
  const adding = (claims: object) => ({ ...claims, sub: 'u', cnf: { jkt: thumbprint } })
  const other = await boundApp(t, { mapClaims: adding })
  assert.equal(outcome(await other.inject({ url: '/me', headers: await as() })), '200')
})

test('of one issuer among several, and with rights of a database, tokens stay bound', async (t) => {
  const issuers = [authority.issuerRules({ tenants: '*' })]
  const app = bareApp(t)
  const { default: tenantAuth } = await import('../../lib/index.ts')
  const options = untyped({
    issuers,
    confirmation: 'check',
    publicUrl: PUBLIC,
    resourcesOf: () => ({ acme: ['menu:read'] }),
  })
  await app.register(tenantAuth, options)
  app.get('/me', async () => 'ok')
  const token = await boundToken()
  const headers = { authorization: `Bearer ${token}` }
  assert.equal(outcome(await app.inject({ url: '/me', headers })), INVALID)
  assert.equal(outcome(await app.inject({ url: '/me', headers: provedBy(HOLDER, token) })), '200')
  assert.equal(outcome(await app.inject({ url: '/me', headers })), INVALID)
})

test('an expired token is refused, whoever holds its key', async (t) => {
  const app = await boundApp(t)
  const token = await boundToken(HOLDER, {}, { expiresIn: -60 })
  assertUnproved(
    await app.inject({ url: '/me', headers: provedBy(HOLDER, token) }),
    'invalid_token',
  )
})

test('where tokens are refused for their binding, nothing of a proof is read', async (t) => {
  const asked: unknown[] = []
  const proofSeen = (...all: unknown[]) => asked.push(all) > 0
  const app = await guardedApp(t, untyped({ confirmation: 'ignore', proofSeen }))
  app.get('/me', async () => 'ok')
  const token = await boundToken()
  assert.equal(outcome(await app.inject({ url: '/me', headers: provedBy(HOLDER, token) })), '200')
  assert.deepEqual(asked, [])
})
