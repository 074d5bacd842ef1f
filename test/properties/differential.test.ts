import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyToken } from '../helpers/arbitraries/any-token.ts'
import { PROPERTY_SEED } from '../helpers/arbitraries/property.ts'
import { forgeKey, partsOf } from '../helpers/tokens/forge.ts'
import { otherVerifiers } from '../helpers/tokens/other-verifiers.ts'
import { startProbe } from '../helpers/tokens/probe.ts'

const COUNT = Number(process.env['DIFFERENTIAL_TOKENS'] ?? 3000)
const NOW = 1_800_000_000

const KEYS = [forgeKey('RS256', 'rsa'), forgeKey('ES256', 'ec'), forgeKey('EdDSA', 'ed')]

/**
 * Tokens that this plugin accepts and another does not, each kind with its reason. Other
 * differences are errors.
 */
const DIVERGENCES: {
  readonly by: keyof ReturnType<typeof otherVerifiers>
  readonly reason: string
  readonly fits: (header: Record<string, unknown>, claims: Record<string, unknown>) => boolean
}[] = [
  {
    by: 'aws',
    reason:
      'it finds a key by kid only; RFC 7515 §4.1.4 leaves kid optional, and here exactly one key fits',
    fits: ({ kid }) => kid === undefined,
  },
  {
    by: 'aws',
    reason: 'it refuses a jti that is no string; nothing here reads jti (RFC 7519 §4.1.7)',
    fits: (_header, { jti }) => jti !== undefined && typeof jti !== 'string',
  },
  {
    by: 'aws',
    reason:
      'it refuses a scope that is no string; nothing here reads scope, and some servers send a list',
    fits: (_header, { scope }) => scope !== undefined && typeof scope !== 'string',
  },
]

test(`of ${COUNT} tokens, good and bent, the others accept all that this plugin accepts`, async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: NOW * 1000 + 250 })
  const probe = await startProbe(t, { publicKeys: { keys: KEYS.map((key) => key.publicJwk) } })
  const others = Object.entries(otherVerifiers(KEYS))
  const accepted = new Map<string, number>()
  const refusedByUs = new Map<string, number>()
  const diverging = new Map<string, number>()
  const unexplained: string[] = []

  for (const token of fc.sample(anyToken(KEYS, NOW), { numRuns: COUNT, seed: PROPERTY_SEED })) {
    const { statusCode } = await probe.ask(token)
    assert.ok([200, 401].includes(statusCode), `${statusCode} for ${token}`)
    const isAccepted = statusCode === 200
    if (isAccepted) count(accepted, 'this plugin')
    for (const [by, verify] of others) {
      const isAcceptedThere = await verify(token)
      if (isAcceptedThere) count(accepted, by)
      if (isAcceptedThere && !isAccepted) count(refusedByUs, by)
      if (isAcceptedThere || !isAccepted) continue
      const reason = reasonOf(token, by)
      if (reason === undefined) unexplained.push(`${by} refuses ${token}`)
      else count(diverging, `${by}: ${reason}`)
    }
  }

  t.diagnostic(`PROPERTY_SEED=${PROPERTY_SEED}, ${COUNT} tokens`)
  for (const [by, n] of accepted) t.diagnostic(`${by} accepts ${n}`)
  for (const [by, n] of refusedByUs) t.diagnostic(`this plugin refuses ${n} that ${by} accepts`)
  for (const [reason, n] of diverging)
    t.diagnostic(`accepted here ${n} times all the same; ${reason}`)
  assert.deepEqual(unexplained.slice(0, 5), [])
  const ours = accepted.get('this plugin') ?? 0
  assert.ok(ours > COUNT * 0.2 && ours < COUNT * 0.8, `${ours} accepted`)
  // If a row of the list no longer occurs, the list explains too much.
  if (COUNT >= 10_000) assert.equal(diverging.size, DIVERGENCES.length)
})

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function reasonOf(token: string, by: string): string | undefined {
  const [header, payload] = partsOf(token)
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
  return DIVERGENCES.find((each) => each.by === by && each.fits(header, payload))?.reason
}
