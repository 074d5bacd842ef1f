import assert from 'node:assert/strict'
import { createTestAuthority } from '../../../../lib/entrypoints/testing/index.ts'
import { forgeKey } from '../../tokens/forge.ts'

const { gc } = globalThis
assert.notEqual(gc, undefined, 'needs --expose-gc')

/**
 * Garbage is collected while Node writes the members of a JWK. What had generated the key is
 * garbage by then, and its end waits for the lock that is held meanwhile: in Node 20 for ever.
 */
for (const name of ['x', 'n', 'crv']) {
  Object.defineProperty(Object.prototype, name, {
    configurable: true,
    set(value: unknown) {
      gc?.()
      const own = { value, configurable: true, enumerable: true, writable: true }
      Object.defineProperty(this, name, own)
    },
  })
}

const authority = await createTestAuthority()
const { headers } = await authority.bound({ resources: {} })
const { dpop } = headers('GET', 'https://api.test/me')
const forged = ['ES256', 'EdDSA', 'RS256'].map((alg) => forgeKey(alg, 'k').publicJwk.kty)
process.stdout.write(JSON.stringify({ parts: dpop.split('.').length, forged: forged.join() }))
