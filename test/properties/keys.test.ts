import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyJson, anyText, objectText } from '../helpers/arbitraries/arbitrary-claims.ts'
import { holds } from '../helpers/arbitraries/property.ts'
import { expectUnspoiltPrototypes } from '../helpers/processes/unspoilt.ts'
import { settle, VIRTUAL_URL, VirtualAuthority } from '../helpers/servers/virtual-authority.ts'
import { encode, forge, forgeKey } from '../helpers/tokens/forge.ts'
import { goodClaims, KEY, openSmallProbe } from '../helpers/tokens/probe.ts'

expectUnspoiltPrototypes()
const MALLORY = forgeKey('ES256', 'mallory')
const SECRET = 'c2VjcmV0'

/**
 * Members that must never verify a token: readers of the set know the secret, or the key has
 * another purpose.
 */
const UNUSABLE: object[] = [
  { kty: 'oct', k: SECRET, kid: 'mallory', alg: 'HS256' },
  { kty: 'oct', k: SECRET, kid: 'mallory', alg: 'ES256' },
  { ...MALLORY.privateKey.export({ format: 'jwk' }), kid: 'mallory' },
  { ...MALLORY.publicJwk, use: 'enc' },
  { ...MALLORY.publicJwk, use: undefined, key_ops: ['encrypt'] },
  { ...MALLORY.publicJwk, alg: 'ES384' },
  { ...MALLORY.publicJwk, kty: 'RSA' },
]

const PARAMETERS = ['kty', 'crv', 'x', 'y', 'n', 'e', 'kid', 'alg', 'use', 'key_ops', 'd', 'k']

const unusable = fc.constantFrom(...UNUSABLE).map((member) => JSON.stringify(member))
/** The good key with another value for one of its parameters, or with further ones. */
const bent = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom(...PARAMETERS), anyText), anyJson), { maxLength: 2 })
  .map((members) => objectText([...membersOf(KEY.publicJwk), ...members]))
const member = fc.oneof(bent, bent, unusable, anyJson)
const jwks = fc
  .tuple(
    fc.array(member, { maxLength: 4 }),
    fc.constantFrom('keys', 'keys', 'keys', 'Keys', '__proto__'),
  )
  .map(([members, name]) => `{"${name}":[${members.join(',')}]}`)
const body = fc.oneof(
  { weight: 6, arbitrary: jwks },
  fc.tuple(jwks, fc.nat(200)).map(([text, end]) => text.slice(0, end)),
  anyJson,
  fc.uint8Array().map((bytes) => new Uint8Array(bytes)),
)

function membersOf(jwk: object): [string, string][] {
  return Object.entries(jwk).map(([name, value]) => [name, JSON.stringify(value)])
}

function hs256(): string {
  const input = `${encode({ alg: 'HS256', kid: 'mallory' })}.${encode(goodClaims())}`
  return `${input}.${createHmac('sha256', Buffer.from(SECRET, 'base64url')).update(input).digest('base64url')}`
}

test('with any answer for a key set the verdict is 200, 401 or 503, and only its good keys count', async (t) => {
  const authority = new VirtualAuthority(t)
  await holds(
    t,
    fc.asyncProperty(body, async (answer) => {
      authority.body = answer
      const { ask, app } = await openSmallProbe({ publicKeysUrl: VIRTUAL_URL })
      try {
        for (const token of [forge(MALLORY, { payload: goodClaims() }), hs256()]) {
          const { statusCode } = await ask(token)
          assert.ok([401, 503].includes(statusCode), String(statusCode))
        }
        const { statusCode } = await ask(forge(KEY, { payload: goodClaims() }))
        assert.ok([200, 401, 503].includes(statusCode), String(statusCode))
        if (statusCode === 200) assert.equal(holdsKey(answer), true)
      } finally {
        await app.close()
      }
    }),
  )
})

function holdsKey(answer: string | Uint8Array): boolean {
  const { keys } = JSON.parse(Buffer.from(answer).toString())
  const { x } = KEY.publicKey.export({ format: 'jwk' })
  return keys.some(
    (key: Record<string, unknown> | null) => key?.['x'] === x && (key?.['d'] ?? null) === null,
  )
}

test('only a good key set takes the good keys away', async (t) => {
  const authority = new VirtualAuthority(t)
  authority.keys = [KEY]
  const { ask, app, service } = await openSmallProbe({ publicKeysUrl: VIRTUAL_URL })
  t.after(() => app.close())
  const good = forge(KEY, { payload: goodClaims({ exp: 1e12 }) })
  const stranger = forge(MALLORY, { payload: goodClaims({ exp: 1e12 }) })
  await holds(
    t,
    fc.asyncProperty(body, async (answer) => {
      authority.body = undefined
      await service.refreshKeys()
      assert.equal((await ask(good)).statusCode, 200)
      authority.body = answer
      const isTaken = await service.refreshKeys().then(
        () => true,
        () => false,
      )
      assert.equal((await ask(stranger)).statusCode, 401)
      const { statusCode } = await ask(good)
      if (!isTaken) assert.equal(statusCode, 200)
      else if (statusCode === 200) assert.equal(holdsKey(answer), true)
    }),
  )
})

const MAX_AGE = 100
const COOLDOWN = 20
const RETRY = 5

/**
 * Another key under the same name. Then tokens of the old one are bad signatures, which cause no
 * fetch.
 */
const REPLACED = forgeKey('ES256', KEY.kid)

test('keys are fetched no more often than their age, the cooldown and the retry wait allow', async (t) => {
  const authority = new VirtualAuthority(t)
  const options = {
    publicKeysUrl: VIRTUAL_URL,
    keysMaxAge: MAX_AGE,
    keysMaxStale: 50,
    keysCooldown: COOLDOWN,
    keysRetry: RETRY,
  }
  const action = fc.oneof(
    fc.constantFrom('good', 'unknown', 'unknown', 'bad signature', 'down', 'up', 'replaced'),
    fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 300 })),
  )
  await holds(
    t,
    fc.asyncProperty(fc.array(action, { maxLength: 15 }), async (actions) => {
      authority.keys = [KEY]
      authority.isDown = false
      authority.fetched.length = 0
      const { ask, app } = await openSmallProbe(options)
      await settle()
      let unknownAt: number[] = []
      for (const what of actions) {
        if (typeof what === 'number') await authority.move(what)
        else if (what === 'down' || what === 'up') authority.isDown = what === 'down'
        else if (what === 'replaced') authority.keys = [REPLACED]
        else {
          if (what === 'unknown') unknownAt = [...unknownAt, Date.now()]
          const key = what === 'good' ? KEY : MALLORY
          const header = what === 'bad signature' ? { kid: KEY.kid } : {}
          // All at once: one fetch is enough for them.
          const token = forge(key, { header, payload: goodClaims() })
          await Promise.all([ask(token), ask(token), ask(token)])
        }
      }
      await app.close()
      assertSparing(authority.fetched, unknownAt)
    }),
  )
})

/** Each fetch has its reason: the age of the keys, a failure some time ago, or an unknown key. */
function assertSparing(fetched: VirtualAuthority['fetched'], unknownAt: readonly number[]): void {
  let lookedAt = Number.NEGATIVE_INFINITY
  let [before, ...others] = fetched
  for (const fetch of others) {
    assert.ok(before, 'a fetch came before')
    const waited = (fetch.at - before.at) / 1000
    const isDue = waited >= (before.ok ? MAX_AGE * 0.8 : RETRY)
    if (!isDue) {
      assert.ok(before.ok, 'after a failure no fetch comes before the wait is over')
      assert.ok(unknownAt.includes(fetch.at), `a fetch after ${waited} s for no reason`)
      assert.ok(fetch.at - lookedAt >= COOLDOWN * 1000, 'within the cooldown')
      lookedAt = fetch.at
    }
    before = fetch
  }
}
