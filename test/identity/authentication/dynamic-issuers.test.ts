import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AuthError, ERR_AUTH_TOKEN_INVALID } from '../../../lib/errors.ts'
import {
  DynamicIssuers,
  type DynamicIssuersRules,
} from '../../../lib/identity/authentication/dynamic-issuers.ts'
import { Issuer, type IssuerEntry } from '../../../lib/identity/authentication/issuer.ts'
import { VerifiedTokens } from '../../../lib/identity/authentication/verified-tokens.ts'
import { readKeySet } from '../../../lib/identity/jwks/jwk-set.ts'
import { StaticKeys } from '../../../lib/identity/jwks/key-source.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'
import { isObject } from '../../../lib/platform/runtime/own-property.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'
import { forgeKey } from '../../helpers/tokens/forge.ts'

const WAITS = new PendingRequests()
const KEYS = readKeySet({ keys: [forgeKey('ES256', 'one').publicJwk] })
const TOKENS = new VerifiedTokens(10, 5)
const A = 'https://a.test'
const ENTRY: IssuerEntry = {
  name: 'a.test',
  issuer: [A],
  tenants: '*',
  audience: undefined,
  publicKeys: '{"keys":[1]}',
  keySet: undefined,
  publicKeysUrl: undefined,
  algorithms: ['ES256'],
  tokenTypes: undefined,
  mapClaims: undefined,
}

/** A function's issuers, on a clock that the test moves. Each is believed until it is retired. */
function start(
  t: TestContext,
  answer: (iss: string) => unknown,
  rules: Partial<DynamicIssuersRules> = {},
) {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: 0 })
  const asked: string[] = []
  const notes: string[] = []
  const trusted: (() => boolean)[] = []
  const warned: string[] = []
  let sources = 0
  const keysOf = () => {
    sources += 1
    const name = `keys ${sources}`
    return Object.assign(new StaticKeys(KEYS), {
      open: () => void notes.push(`${name} opened`),
      close: () => void notes.push(`${name} closed`),
      async reload() {
        notes.push(`${name} loaded`)
        return true
      },
    })
  }
  const issuers = new DynamicIssuers({
    ask(iss) {
      asked.push(iss)
      return answer(iss)
    },
    read(_iss, given) {
      if (given === null) return null
      return isObject(given) ? { ...ENTRY, ...given } : undefined
    },
    keysOf,
    rightsOf: () => undefined,
    issuerOf({ name, mapClaims }, { keys }, standing) {
      trusted.push(() => standing.isTrusted())
      const header = { algorithms: new Set(['ES256']), tokenTypes: new Set<string>() }
      const own = { name, mapClaims, tenants: '*', clockTolerance: 5, ...header } as const
      return new Issuer(keys, own, TOKENS, standing)
    },
    warn: (reason) => void warned.push(reason),
    ...{ issuersMax: 1000, timeout: 5, maxAge: 100, maxStale: 50, cooldown: 10 },
    ...rules,
  })
  return {
    ...{ issuers, trusted, warned },
    find: (iss: string | undefined = A) => issuers.find({ iss }, WAITS),
    /** The issuers that were asked about since the last call. */
    asked: () => asked.splice(0),
    /** What was passed to the keys since the last call. */
    notes: () => notes.splice(0),
    at: (milliseconds: number) => t.mock.timers.setTime(milliseconds),
  }
}

const withReason = (reason: string) => (error: unknown) =>
  error instanceof AuthError && error.reason === reason

const NOT_ACCEPTED = withReason('the issuer is not accepted')

/** Whether what an issuer says now is believed. */
const proofOf = async (found: Issuer | Promise<Issuer>) =>
  (await found).acceptOpaque({ sub: 'u' }, 1000).validity

test('an issuer that is not known is refused, and asked for anew after the cooldown', (t) => {
  const { find, asked, at } = start(t, () => null)
  for (const milliseconds of [0, 9999, 10_000]) {
    at(milliseconds)
    assert.throws(find, (error) => {
      assert.ok(error instanceof ERR_AUTH_TOKEN_INVALID, `${error}`)
      const expected = '"one that the issuers function knows"'
      const mismatch = { of: 'iss', expected, unverified: `"${A}"` }
      const reported = [error.reason, error.mismatch]
      assert.deepEqual(reported, ['the issuer is not accepted', mismatch])
      return true
    })
  }
  assert.deepEqual(asked(), [A, A])
})

for (const [what, answer] of [
  ['issuers are held', ENTRY],
  ['names are known as those of no issuer', null],
] as const) {
  test(`a thousand ${what}, and a further one takes the place of one`, (t) => {
    const { issuers, find, asked, notes } = start(t, () => answer)
    const findAll = (count: number) => {
      for (let i = 0; i < count; i++) {
        if (answer === null) assert.throws(() => find(`i${i}`), NOT_ACCEPTED)
        else assert.notEqual(find(`i${i}`), undefined)
      }
      return asked().length
    }
    assert.deepEqual([findAll(1000), findAll(1000), findAll(1001)], [1000, 0, 1])
    const closed = notes().filter((note) => note.endsWith('closed'))
    const held = answer === null ? [0, 0] : [1000, 1]
    assert.deepEqual([issuers.all().length, closed.length], held)
    assert.notEqual(findAll(1001), 0)
  })
}

const BY_URL = { publicKeys: undefined, publicKeysUrl: `${A}/keys` }
const DISCOVERED = { publicKeys: undefined }

/** Answers that change, and whether the keys stay. */
const CHANGES: readonly [what: string, before: object, now: object, sameKeys: boolean][] = [
  ['tenants', { tenants: ['a'] }, { tenants: ['b'] }, true],
  ['name', { name: 'one' }, { name: 'two' }, true],
  ['tenants, with an address of keys', { ...BY_URL, tenants: ['a'] }, BY_URL, true],
  ['tenants, where it is discovered', { ...DISCOVERED, tenants: ['a'] }, DISCOVERED, true],
  ['keys', { publicKeys: '{"keys":[1]}' }, { publicKeys: '{"keys":[2]}' }, false],
  ['address of keys', BY_URL, { ...BY_URL, publicKeysUrl: `${A}/others` }, false],
  ['place where it is discovered', DISCOVERED, { ...DISCOVERED, issuer: ['b'] }, false],
  ['way to the keys', BY_URL, DISCOVERED, false],
]

for (const [what, before, now, sameKeys] of CHANGES) {
  test(`another ${what} makes another issuer with ${sameKeys ? 'the same' : 'other'} keys`, async (t) => {
    let answer = before
    const { issuers, find, notes, trusted } = start(t, () => answer)
    const issuer = await find()
    const proof = await proofOf(issuer)
    assert.deepEqual([proof.isValid, trusted[0]?.(), notes()], [true, true, ['keys 1 opened']])
    answer = now
    issuers.forget()
    assert.equal(trusted[0]?.(), false, 'until it is asked for anew')
    const other = await find()
    assert.equal(other === issuer, false)
    assert.equal(other.keys === issuer.keys, sameKeys)
    assert.deepEqual(notes(), sameKeys ? ['keys 1 opened'] : ['keys 1 closed', 'keys 2 opened'])
    assert.deepEqual([proof.isValid, trusted[0]?.(), trusted[1]?.()], [false, false, true])
    assert.deepEqual(issuers.all(), [other])
  })
}

test('an issuer that the function knows no more is retired, and its keys are closed', async (t) => {
  let answer: object | null = ENTRY
  const { issuers, find, notes } = start(t, () => answer)
  const proof = await proofOf(find())
  answer = null
  issuers.forget()
  assert.throws(find, NOT_ACCEPTED)
  assert.deepEqual([proof.isValid, notes()], [false, ['keys 1 opened', 'keys 1 closed']])
  assert.deepEqual(issuers.all(), [])
})

test('an issuer that had to go is logged again after the service was closed, and a logger may throw', async (t) => {
  const logged: string[] = []
  const { issuers, find } = start(t, () => ENTRY, {
    issuersMax: 1,
    warn(reason) {
      logged.push(reason)
      throw new Error('the log is full')
    },
  })
  const prove = async (...names: string[]) => {
    for (const name of names) assert.equal((await proofOf(find(name))).isValid, true)
  }
  await prove('a', 'b', 'c')
  assert.equal(logged.length, 1)
  t.mock.timers.tick(60_000)
  assert.equal(logged.length, 2)
  await prove('d')
  issuers.close()
  t.mock.timers.tick(60_000)
  assert.equal(logged.length, 2)
  issuers.open()
  await prove('e')
  assert.equal(logged.length, 3)
})
