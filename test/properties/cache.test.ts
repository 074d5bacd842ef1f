import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  anyCommand,
  MAX_AGE,
  MAX_STALE,
  Mint,
  type Model,
  TOLERANCE,
} from '../helpers/arbitraries/cache-model.ts'
import { holds } from '../helpers/arbitraries/property.ts'
import { expectUnspoiltPrototypes } from '../helpers/processes/unspoilt.ts'
import { settle, VIRTUAL_URL, VirtualAuthority } from '../helpers/servers/virtual-authority.ts'
import { forge, forgeKey } from '../helpers/tokens/forge.ts'
import { goodClaims, openSmallProbe } from '../helpers/tokens/probe.ts'

expectUnspoiltPrototypes()
const KEYS = ['a', 'b', 'c'].map((kid) => forgeKey('ES256', kid))

/** Retries without jitter, so that both services act at the same times. */
const OPTIONS = {
  publicKeysUrl: VIRTUAL_URL,
  keysMaxAge: MAX_AGE,
  keysMaxStale: MAX_STALE,
  keysCooldown: 10,
  keysRetry: 10,
  clockTolerance: TOLERANCE,
}

test('the verdict is the same with the cache and without, after any change of keys, clock and endpoint', async (t) => {
  const authority = new VirtualAuthority(t)
  const commands = fc.commands(anyCommand(KEYS), { maxCommands: 25, size: 'medium' })
  await holds(
    t,
    fc.asyncProperty(commands, async (sequence) => {
      authority.keys = KEYS.slice(0, 2)
      authority.isDown = false
      const cached = await openSmallProbe({ ...OPTIONS, tokenCacheSize: 3 })
      const uncached = await openSmallProbe({ ...OPTIONS, tokenCacheSize: 0 })
      await settle()
      const publishedUntil = new Map(authority.keys.map((key) => [key, Number.POSITIVE_INFINITY]))
      const model: Model = { tokens: [], publishedUntil, upSince: Date.now() }
      for (const key of KEYS) new Mint(key, 10_000, false).add(model)
      try {
        await fc.asyncModelRun(() => ({ model, real: { authority, cached, uncached } }), sequence)
      } finally {
        await Promise.all([cached.app.close(), uncached.app.close()])
      }
    }),
  )
})

test('a token that was refused for its time is never accepted again', async (t) => {
  const authority = new VirtualAuthority(t)
  const [key] = KEYS
  assert.ok(key, 'there is a key')
  authority.keys = [key]
  const probes = [
    await openSmallProbe({ publicKeysUrl: VIRTUAL_URL, keysMaxStale: 2_147_483 }),
    await openSmallProbe({
      publicKeysUrl: VIRTUAL_URL,
      keysMaxStale: 2_147_483,
      tokenCacheSize: 0,
    }),
  ]
  t.after(() => Promise.all(probes.map(({ app }) => app.close())))
  await settle()
  const life = fc.double({ min: -20, max: 60, noNaN: true })
  const steps = fc.array(fc.double({ min: 0.001, max: 15, noNaN: true }), { maxLength: 12 })
  await holds(
    t,
    fc.asyncProperty(life, steps, fc.boolean(), async (seconds, moves, isCached) => {
      const probe = probes[isCached ? 0 : 1]
      assert.ok(probe, 'there is a probe')
      const exp = Date.now() / 1000 + seconds
      const token = forge(key, { payload: goodClaims({ exp, iat: undefined }) })
      let wasRefused = false
      for (const move of [0, ...moves]) {
        await authority.move(move)
        const { statusCode } = await probe.ask(token)
        assert.equal(statusCode, Date.now() / 1000 < exp + 5 ? 200 : 401)
        assert.equal(wasRefused && statusCode === 200, false)
        wasRefused ||= statusCode === 401
      }
    }),
  )
})
