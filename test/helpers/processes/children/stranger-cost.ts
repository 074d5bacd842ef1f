import assert from 'node:assert/strict'
import { hrtime } from 'node:process'
import type { FastifyRequest } from 'fastify'
import type { AuthOptions } from '../../../../lib/config/options.ts'
import type { Authenticator } from '../../../../lib/identity/authentication/authenticator.ts'
import { encode, forge, forgeKey, partsOf } from '../../tokens/forge.ts'
import { AUDIENCE, goodClaims, ISSUER } from '../../tokens/probe.ts'
import {
  authenticate,
  bearerRequest,
  standaloneAuthenticator,
} from '../../tokens/standalone-authenticator.ts'

// What each request of a stranger costs, in forged signatures. Argument: the configuration. It is
// a program of its own, because counting covered lines makes loops of ours several times slower.

/**
 * The cheapest signature of all. A stranger who sends forged ones costs a server at least this
 * much.
 */
const KEY = forgeKey('RS256', 'rsa')
const TOKEN = forge(KEY, { payload: goodClaims() })
const [, , SIGNATURE] = partsOf(TOKEN)

/** A forged token: a good token with another signature. */
function forged(claims: object = {}): string {
  const [header, payload] = partsOf(forge(KEY, { payload: goodClaims({ ...claims, jti: 'x' }) }))
  return `${header}.${payload}.${SIGNATURE}`
}

/** A forged token with a long header, which has all that is asked for, and more. */
function crowded(more: string): string {
  return `${encode(`{"alg":"RS256","kid":"rsa",${more}}`)}.e30.${SIGNATURE}`
}

const nested = (depth: number) => `"x":${'['.repeat(depth)}${']'.repeat(depth)}`
const list = (length: number, item: (i: number) => string) =>
  Array.from({ length }, (_, i) => item(i)).join(',')

/**
 * A token of 16 KiB, the most that Node takes. Its header has 2048 characters, or a few more or
 * less.
 */
const TOKENS: readonly [what: string, token: string][] = [
  ['of one letter', 'x'],
  ['of dots', '.'.repeat(16_000)],
  ['of letters', 'a'.repeat(16_000)],
  ['of many words', 'a '.repeat(8000)],
  ['of many parts', 'a.'.repeat(8000)],
  ['of letters that are not ASCII', 'é'.repeat(16_000)],
  ['of padding', `${'='.repeat(16_000)}.e30.AA`],
  ['over the limit', 'a'.repeat(100_000)],
  ['with a header of 5 000 lists', crowded(nested(5000))],
  ['with a header that never ends', `${encode('['.repeat(11_000))}.e30.${SIGNATURE}`],
  ['with a header of 700 lists', crowded(nested(700))],
  ['with a header of 60 lists', crowded(nested(60))],
  ['with a header of 120 shapes', crowded(`"x":[${list(120, (i) => `{"a${i}":0}`)}]`)],
  ['with a header of 30 shapes', crowded(`"x":[${list(30, (i) => `{"a${i}":0}`)}]`)],
  ['with a header of 150 members', crowded(list(150, (i) => `"a${i}":0`))],
  ['with a header of 60 members', crowded(list(60, (i) => `"${i * 7919}":0`))],
  ['with a header of 200 members of one name', crowded(list(200, () => '"kid":"rsa"'))],
  ['with a long kid', `${encode(`{"alg":"RS256","kid":"${'k'.repeat(1450)}"}`)}.e30.${SIGNATURE}`],
  ['with a long typ', crowded(`"typ":"${'aA'.repeat(700)}"`)],
  ['with a long alg', `${encode({ alg: 'A'.repeat(1450) })}.e30.${SIGNATURE}`],
  ['with a header of escapes', crowded(`"x":"${'\\u0041'.repeat(240)}"`)],
  ['with a header that is no JSON', `${encode('x'.repeat(1530))}.e30.${SIGNATURE}`],
  ['with a header that is not UTF-8', `${encode(Buffer.alloc(1530, 0xff))}.e30.${SIGNATURE}`],
  ['with a long payload, forged', forged({ padding: 'x'.repeat(11_000) })],
  ['with a payload of 5 000 lists, forged', crowded('"x":0').replace('e30', encode(nested(5000)))],
  ['with a payload that is misspelt', crowded('"x":0').replace('e30', `${'a'.repeat(15_000)}=`)],
  ['with its iss at the end, forged', forged({ padding: 'x'.repeat(11_000), iss: ISSUER })],
  ['of names without values', crowded('"x":0').replace('e30', encode(`{${'"iss"'.repeat(2200)}`))],
  ['of iss without colons', crowded('"x":0').replace('e30', encode(`{${'"iss" ,'.repeat(1500)}`))],
  ['of blanks', crowded('"x":0').replace('e30', encode(`{"iss":${' '.repeat(11_000)}`))],
  ['of an unknown iss', forged({ iss: 'x'.repeat(3000) })],
  ['of a long unknown iss', forged({ iss: 'x'.repeat(11_000) })],
  ['with a long signature', crowded('"x":0').replace(SIGNATURE, 'A'.repeat(15_000))],
]

const REQUESTS: readonly [what: string, request: FastifyRequest][] = [
  ['15 000 blanks', bearerRequest(`Bearer${' '.repeat(15_000)}x`)],
  ['a long scheme', bearerRequest('x'.repeat(16_000))],
  ['no scheme of ours', bearerRequest(`Basic ${'x'.repeat(16_000)}`)],
  ['1 000 lines of headers', bearerRequest('Bearer x', new Array(2000).fill('AUTHORIZATIOM'))],
]

const algorithms: AuthOptions['algorithms'] = ['RS256', 'ES256']
const publicKeys = { keys: [KEY.publicJwk] }
const RULES = { issuer: ISSUER, audience: AUDIENCE, tenants: ['a'], publicKeys }

const CONFIGURATIONS: readonly [what: string, options: AuthOptions][] = [
  ['one issuer', { publicKeys, algorithms, issuer: ISSUER, audience: AUDIENCE }],
  ['several issuers', { algorithms, issuers: [RULES, { ...RULES, issuer: 'https://b.test' }] }],
]

/** Nanoseconds for one refusal. */
async function costOf(authenticator: Authenticator, request: FastifyRequest): Promise<number> {
  const start = hrtime.bigint()
  for (let i = 0; i < TIMES; i++) {
    try {
      const principal = authenticate(authenticator, request)
      if (principal instanceof Promise) await principal.catch(() => {})
    } catch {}
  }
  return Number(hrtime.bigint() - start) / TIMES
}

const TIMES = 10
const ROUNDS = 60

const [, options] =
  CONFIGURATIONS.find(([what]) => what === process.argv[2]) ?? assert.fail('no such configuration')
const authenticator = standaloneAuthenticator(options)
await authenticate(authenticator, bearerRequest(`Bearer ${TOKEN}`))
const signature = bearerRequest(`Bearer ${forged()}`)
const cases = new Map([['a forged signature', signature], ...REQUESTS])
for (const [which, token] of TOKENS) cases.set(`a token ${which}`, bearerRequest(`Bearer ${token}`))
// Takes the least of many rounds in turns. So other work of the machine counts in no round, or in
// all.
const least = new Map<string, number>()
for (let round = 0; round < ROUNDS; round++) {
  for (const [which, request] of cases) {
    const cost = await costOf(authenticator, request)
    least.set(which, Math.min(cost, least.get(which) ?? Number.POSITIVE_INFINITY))
  }
}
const unit = least.get('a forged signature') ?? Number.NaN
const ratios = [...least].map(([which, cost]) => [which, cost / unit] as const)
process.stdout.write(JSON.stringify(Object.fromEntries(ratios)))
