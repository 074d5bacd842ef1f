import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { LightMyRequestResponse } from 'fastify'
import { assertNoLeak, CANARY, CANARY_CLAIMS, textOf } from '../helpers/app/canaries.ts'
import { undetailed } from '../helpers/app/log-lines.ts'
import { anyJson, anyText, objectText } from '../helpers/arbitraries/arbitrary-claims.ts'
import { holds, PROPERTY_RUNS, PROPERTY_SEED } from '../helpers/arbitraries/property.ts'
import { expectUnspoiltPrototypes } from '../helpers/processes/unspoilt.ts'
import { forge, forgeKey } from '../helpers/tokens/forge.ts'
import { goodClaims, goodToken, KEY, openProbe } from '../helpers/tokens/probe.ts'

expectUnspoiltPrototypes()
const probe = await openProbe()
after(() => probe.app.close())
const MALLORY = forgeKey('ES256', KEY.kid)

const spoiling = fc.constantFrom(
  '{"polluted":true}',
  '{"__proto__":{"polluted":true}}',
  '[{"polluted":1}]',
)
const member = fc.tuple(
  fc.oneof(anyText, fc.constantFrom('__proto__', 'constructor', 'prototype', 'resources', 'sub')),
  fc.oneof(anyJson, spoiling),
)
const members = fc.array(member, { maxLength: 4 })

function membersOf(object: object): [string, string][] {
  return Object.entries(object).map(([name, value]) => [name, JSON.stringify(value)])
}

test('no input changes what every object inherits', async (t) => {
  const before = Reflect.ownKeys(Object.prototype)
  const query = fc.constantFrom(
    '',
    '?__proto__[polluted]=1',
    '?constructor.prototype.polluted=1',
    '?__proto__=1',
  )
  await holds(
    t,
    fc.asyncProperty(members, members, query, async (claims, parameters, search) => {
      const header = objectText([...membersOf({ alg: KEY.alg, kid: KEY.kid }), ...parameters])
      const payload = objectText([...membersOf(goodClaims()), ...claims])
      const { statusCode } = await probe.ask(forge(KEY, { header, payload }), `/query${search}`)
      assert.ok(statusCode < 500, `${statusCode}`)
      assert.deepEqual(Reflect.ownKeys(Object.prototype), before)
      assert.equal('polluted' in {}, false)
    }),
  )
})

const TENANT = 'acme'
/** Good and bad tokens, with the canary in each claim and header parameter that can hold it. */
const secretToken = fc
  .tuple(
    fc.constantFrom(KEY, MALLORY),
    members,
    fc.constantFrom('', 'alg', 'kid', 'typ', 'crit', 'jku'),
    fc.constantFrom({}, { iss: CANARY }, { aud: CANARY }, { exp: 1 }, { resources: CANARY }),
    fc.nat(600),
  )
  .map(([key, claims, name, bent, at]) => {
    const header = name === '' ? {} : { [name]: `${CANARY}-${name}` }
    const payload = objectText([...membersOf(goodClaims({ ...CANARY_CLAIMS, ...bent })), ...claims])
    const token = forge(key, { header, payload })
    return at % 3 === 0 ? `${token.slice(0, at)}*${token.slice(at)}` : token
  })

test('no response and no line of the log holds a part of a token, or a claim', async (t) => {
  const headerOf = fc.constantFrom('Bearer ', 'bearer  ', 'Bearer\t', 'Basic ', '')
  const url = fc.constantFrom(
    '/needs',
    `/t/${TENANT}`,
    '/query?tenant=acme',
    '/query',
    '/optional',
    '/nowhere',
  )
  await holds(
    t,
    fc.asyncProperty(secretToken, headerOf, url, async (token, scheme, path) => {
      probe.log.length = 0
      const headers = { authorization: scheme + token }
      const response = await probe.app.inject({ url: path, headers })
      assertNoLeak([textOf(response), ...probe.log.map(undetailed)], token)
    }),
  )
})

/** Texts that an attacker would like to put behind a line feed. */
const splitting = fc.oneof(
  anyText,
  fc.constantFrom(
    '\r\nSet-Cookie: a=b',
    'a\r\n\r\n<html>',
    'a\nX: 1',
    '%0d%0aX:%201',
    '\u560a\u560d',
  ),
)

/** Applications of many realms. One for each run would take too long. */
const realms = fc.sample(fc.string({ minLength: 1, unit: 'grapheme-ascii' }), {
  numRuns: Math.min(200, Math.ceil(PROPERTY_RUNS / 20)),
  seed: PROPERTY_SEED,
})
const probes = await Promise.all(realms.map((realm) => openProbe({ realm })))
after(() => Promise.all(probes.map(({ app }) => app.close())))

test('no header of a response holds a line break, with any request and realm', async (t) => {
  await holds(
    t,
    fc.asyncProperty(
      fc.constantFrom(...probes),
      splitting,
      splitting,
      async (each, first, second) => {
        const { app, ask } = each
        const resources = { [first]: [second], '*': [second], acme: [`${first}:${second}`] }
        const query = `?tenant=${encodeURIComponent(first)}&${encodeURIComponent(second)}`
        const good = goodToken({ resources, sub: second || 'x' }, { cty: first })
        const responses = [
          await ask(good, '/needs'),
          await ask(good, `/query${query}`),
          await ask(goodToken({}, { kid: first }), '/me'),
          await app.inject({ url: `/me${query}`, headers: { authorization: first + second } }),
          await app.inject({ url: '/me', headers: { authorization: `Bearer ${second}` } }),
        ]
        for (const response of responses) assertWhole(response)
      },
    ),
  )
})

function assertWhole({ statusCode, headers }: LightMyRequestResponse): void {
  assert.ok(statusCode < 500, String(statusCode))
  for (const value of Object.values(headers).flat()) {
    assert.doesNotMatch(String(value), /[^\t -~]/)
  }
}
