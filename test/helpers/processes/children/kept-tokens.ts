import assert from 'node:assert/strict'
import type { Authenticator } from '../../../../lib/identity/authentication/authenticator.ts'
import { forge } from '../../tokens/forge.ts'
import { goodClaims, KEY } from '../../tokens/probe.ts'
import { principalOf, standaloneAuthenticator } from '../../tokens/standalone-authenticator.ts'
import { filledCaches } from '../filled-caches.ts'
import { settledHeap } from '../used-heap.ts'

/**
 * Prints how much the heap grows with many distinct tokens of one kind, as they come from the
 * network, and how many of them are kept. Arguments: the kind, how many, and `tokenCacheSize`.
 */
const [kind = '', count = '0', tokenCacheSize = '0'] = process.argv.slice(2)

let serial = 0
// Of texts with 13 letters and more V8 makes a view, not a copy.
const name = () => `tenant-${(serial++).toString(36).padStart(6, '0')}`
const names = (length: number) => Array.from({ length }, name)
const tenants = (length: number) => Object.fromEntries(names(length).map((tenant) => [tenant, []]))

const CLAIMS: Readonly<Record<string, () => object>> = {
  blanks: () => ({}),
  // Each tenant has all that is granted under `*`.
  tenants: () => ({ resources: { '*': names(50).map((id) => `${id}:x`), ...tenants(50) } }),
  wide: () => ({ resources: tenants(10_000) }),
  shapes: () => ({ x: names(700).map((member) => ({ [member]: 0 })) }),
}

function headerOf(claims: object): string {
  const token = forge(KEY, { payload: goodClaims({ jti: name(), ...claims }) })
  return `Bearer${' '.repeat(kind === 'blanks' ? 15_000 : 1)}${token}`
}

function open(): Authenticator {
  return standaloneAuthenticator({
    publicKeys: { keys: [KEY.publicJwk] },
    maxTokenLength: 1_000_000,
    tokenCacheSize: Number(tokenCacheSize),
  })
}

/** Visits the tenants of the token, each by a long URL of its own. */
function ask(authenticator: Authenticator, header: string): void {
  const principal = principalOf(authenticator, header)
  assert.ok(!(principal instanceof Promise), 'the keys are there')
  for (const tenant of [...principal.tenants].slice(0, 50)) {
    const url = Buffer.from(`/${tenant}?${'x'.repeat(15_000)}`).toString('latin1')
    principal.in(url.slice(1, 1 + tenant.length))
  }
}

const claimsOf = CLAIMS[kind] ?? assert.fail(`no kind of token: ${kind}`)

const warmedUp = open()
for (let i = 0; i < 3; i++) ask(warmedUp, headerOf(claimsOf()))
filledCaches.clear()
const authenticator = open()
const before = await settledHeap()
for (let i = 0; i < Number(count); i++) ask(authenticator, headerOf(claimsOf()))
const grown = (await settledHeap()) - before
const [cache] = filledCaches

process.stdout.write(JSON.stringify({ grown, entries: cache?.size ?? 0 }))
// The cache must live until here.
assert.ok(authenticator.isReady, 'keys given in code')
