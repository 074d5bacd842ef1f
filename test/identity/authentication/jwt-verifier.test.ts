import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthError } from '../../../lib/errors.ts'
import { FOR_GOOD, Issuer } from '../../../lib/identity/authentication/issuer.ts'
import type { Issuers } from '../../../lib/identity/authentication/issuers.ts'
import { JwtVerifier } from '../../../lib/identity/authentication/jwt-verifier.ts'
import { VerifiedTokens } from '../../../lib/identity/authentication/verified-tokens.ts'
import { KeySet } from '../../../lib/identity/jwks/jwk-set.ts'
import { StaticKeys } from '../../../lib/identity/jwks/key-source.ts'
import { refuseToken } from '../../../lib/identity/jwt/refuse-token.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'
import { accepted } from '../../helpers/tokens/accepted.ts'
import { goodToken, KEY } from '../../helpers/tokens/probe.ts'

const WAITS = new PendingRequests()
const KEYS = new KeySet({ keys: [KEY.publicJwk] })
const TOKEN = goodToken({ resources: { acme: [], other: [] } })

/** Keys that come when the test says so. */
class LateKeys extends StaticKeys {
  #come = (): void => {}
  readonly #coming = new Promise<void>((resolve) => {
    this.#come = resolve
  })

  come(): void {
    this.#come()
  }

  override async settled(): Promise<KeySet> {
    await this.#coming
    Object.defineProperty(this, 'current', { value: () => KEYS })
    return KEYS
  }
}

/** An issuer whose keys come later, and who is who the test says. */
function start() {
  const tokens = new VerifiedTokens(10, 5)
  const keys = new LateKeys(KEYS)
  Object.defineProperty(keys, 'current', { value: () => undefined, configurable: true })
  const make = (tenants: string[]) => {
    const rules = {
      name: 'a.test',
      tenants: new Set(tenants),
      algorithms: new Set(['ES256']),
      tokenTypes: new Set(['application/at+jwt']),
      clockTolerance: 5,
    }
    const issuer: Issuer = new Issuer(keys, rules, tokens, {
      ...FOR_GOOD,
      isTrusted: () => known.issuer === issuer,
    })
    return issuer
  }
  const known: { issuer: Issuer | undefined } = { issuer: undefined }
  known.issuer = make(['acme'])
  let finds = 0
  const issuers: Issuers = {
    open() {},
    close() {},
    isReady: true,
    areAsked: true,
    async refreshKeys() {},
    forget() {},
    all: () => [],
    find() {
      finds += 1
      if (known.issuer) return known.issuer
      throw refuseToken('the issuer is not accepted')
    },
  }
  const jwts = new JwtVerifier(issuers, tokens, 16_384)
  return { jwts, keys, known, make, tokens, finds: () => finds }
}

const tenantsOf = async (verifying: ReturnType<JwtVerifier['verify']>) => [
  ...(await accepted(verifying)).principal.tenants,
]

test('a token waits for the keys of its issuer, and is known from then on', async () => {
  const { jwts, keys, tokens, finds } = start()
  const verifying = jwts.verify(TOKEN, WAITS)
  assert.equal(verifying instanceof Promise, true)
  keys.come()
  assert.deepEqual(await tenantsOf(verifying), ['acme'])
  assert.equal(finds(), 1, 'its issuer is asked for once')
  const known = tokens.get(TOKEN)
  assert.notEqual(known, undefined)
  assert.equal(jwts.verify(TOKEN, WAITS), known)
})

test('an issuer that has changed while its keys were waited for is asked for anew', async () => {
  const { jwts, keys, known, make } = start()
  const verifying = jwts.verify(TOKEN, WAITS)
  known.issuer = make(['other'])
  keys.come()
  assert.deepEqual(await tenantsOf(verifying), ['other'])
})

test('an issuer that is trusted no more when its keys come proves nothing', async () => {
  const { jwts, keys, known } = start()
  const verifying = jwts.verify(TOKEN, WAITS)
  known.issuer = undefined
  keys.come()
  await assert.rejects(
    async () => verifying,
    (error) => error instanceof AuthError && error.reason === 'the issuer is not accepted',
  )
})

test('a refusal that comes later is given as it is', async () => {
  const { jwts, known, make } = start()
  const refused = refuseToken('later')
  known.issuer = Object.assign(make(['acme']), { verify: async () => refused })
  assert.equal(await jwts.verify(TOKEN, WAITS), refused)
})

test('a token that is too long is not read', () => {
  const { jwts } = start()
  assert.throws(
    () => jwts.verify(`${TOKEN}${'A'.repeat(16_384)}`, WAITS),
    (error) => error instanceof AuthError && error.reason === 'longer than maxTokenLength',
  )
})
