import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { type DenyEntry, denyList } from '../../../lib/entrypoints/revocation/index.ts'
import {
  WATCH,
  type WatchRevocation,
} from '../../../lib/identity/authentication/revocation-check.ts'
import { tokenInfo } from '../../../lib/identity/jwt/token-info.ts'
import type { TokenInfo } from '../../../lib/index.ts'
import { lifecycleOf } from '../../../lib/platform/callbacks/lifecycle.ts'
import { openLifecycle } from '../../helpers/app/open-lifecycle.ts'
import {
  attend,
  HOUR,
  ISSUER_A,
  SECOND,
  START,
  stopClocks,
  tokenOf,
  verdictOf,
} from '../../helpers/tokens/denied.ts'

const ISSUED = START - 60 * SECOND

const LONG = 'a'.repeat(16_000)
const LONGEST = 'a'.repeat(65_536)
const KEPT = createHash('sha256').update(LONG, 'utf16le').digest('base64')

const FITS: [what: string, entry: DenyEntry, token: Partial<TokenInfo>, fits: boolean][] = [
  ['jti', { jti: 'token-1' }, {}, true],
  ['another jti', { jti: 'token-2' }, {}, false],
  ['sid', { sid: 'session-1' }, {}, true],
  ['sub', { sub: 'alice' }, {}, true],
  ['issuer', { issuer: ISSUER_A }, {}, true],
  ['another issuer', { issuer: 'https://b.example.com' }, {}, false],
  ['sub and issuer', { sub: 'alice', issuer: ISSUER_A }, {}, true],
  ['sub, and not issuer', { sub: 'alice', issuer: 'https://b.example.com' }, {}, false],
  ['issuer, and not sub', { sub: 'bob', issuer: ISSUER_A }, {}, false],
  ['all names', { jti: 'token-1', sid: 'session-1', sub: 'alice', issuer: ISSUER_A }, {}, true],
  ['a sub like the jti', { jti: 'alice' }, {}, false],
  ['a name of an object', { sub: '__proto__' }, { sub: '__proto__' }, true],
  ['names that run into each other', { jti: 'a1:b', sid: 'c' }, { jti: 'a', sid: 'b1:c' }, false],
  ['names that make one text', { jti: 'ab', sid: 'c' }, { jti: 'a', sid: 'bc' }, false],
  ['a jti that the token lacks', { jti: 'token-1' }, { jti: null }, false],
  ['a sid that the token lacks, with its sub', { sid: 's', sub: 'alice' }, { sid: null }, false],
  ['an issuer that the token lacks', { sub: 'alice', issuer: ISSUER_A }, { issuer: null }, false],
  ['a later issuedBefore', { sub: 'alice', issuedBefore: new Date(ISSUED + 1) }, {}, true],
  ['issuedBefore at its iat', { sub: 'alice', issuedBefore: new Date(ISSUED) }, {}, false],
  ['an earlier issuedBefore', { sub: 'alice', issuedBefore: new Date(ISSUED - 1) }, {}, false],
  ['no issuer', { sub: 'alice', issuer: null }, { issuer: null }, true],
  ['no issuer, of a token of one', { sub: 'alice', issuer: null }, {}, false],
  ['no issuer alone', { issuer: null }, { issuer: null }, true],
  ['the longest name', { sub: LONGEST }, { sub: LONGEST }, true],
  ['a name of 16 kB', { sub: LONG }, { sub: LONG }, true],
  ['a name of 16 kB that ends otherwise', { sub: LONG }, { sub: `${LONG.slice(1)}b` }, false],
  ['the kept form of a long name', { sub: LONG }, { sub: KEPT }, false],
  ['a long name of half a pair', { sub: `\ud800${LONG}` }, { sub: `\ud801${LONG}` }, false],
]

for (const [what, entry, token, fits] of FITS) {
  test(`an entry with ${what} ${fits ? 'fits' : 'does not fit'}`, async (t) => {
    stopClocks(t)
    const list = denyList()
    assert.equal(verdictOf(list, tokenOf(token)), false)
    await list.add(entry)
    assert.equal(verdictOf(list, tokenOf(token)), fits)
    assert.equal(list.size(), 1)
  })
}

test('an entry counts before add has returned', () => {
  const list = denyList()
  const added = list.add({ sub: 'alice' })
  assert.equal(verdictOf(list), true)
  return added
})

test('an entry without until lasts for maxLifetime, and five minutes more', async (t) => {
  const { pass } = stopClocks(t)
  const list = denyList({ maxLifetime: 7200 })
  attend(t, list)
  await list.add({ sub: 'alice' })
  // One that says its end has no minutes more, and takes none away.
  await list.add({ sub: 'alice', until: new Date(START + 2 * HOUR + SECOND) })
  await pass(2 * HOUR + 300 * SECOND - 1, HOUR)
  assert.equal(verdictOf(list), true)
  await pass(1)
  assert.equal(verdictOf(list), false)
  await pass(60 * SECOND)
  assert.equal(list.size(), 0, 'it has left memory')
})

const LIVES: [what: string, token: (now: number) => Partial<TokenInfo>, refused: boolean][] = [
  ['maxLifetime', (now) => ({ expiresAt: new Date(now - 60 * SECOND + 24 * HOUR) }), false],
  ['longer', (now) => ({ expiresAt: new Date(now - 60 * SECOND + 24 * HOUR + 1) }), true],
  [
    'longer, and is at its end',
    (now) => ({ issuedAt: new Date(now - 25 * HOUR), expiresAt: new Date(now + 1) }),
    true,
  ],
  ['a second, without iat', (now) => ({ issuedAt: null, expiresAt: new Date(now + 1000) }), true],
  ['without end', () => ({ expiresAt: null }), true],
  ['without times', () => ({ issuedAt: null, expiresAt: null }), true],
]

for (const [what, token, refused] of LIVES) {
  test(`a token that lives ${what} is ${refused ? 'refused' : 'admitted'}`, (t) => {
    stopClocks(t)
    const list = denyList()
    assert.equal(verdictOf(list, tokenOf(token(Date.now()))), refused)
  })
}

test('that tokens live too long is logged once, however often the list is read', async (t) => {
  const { pass } = stopClocks(t)
  const list = denyList({ changes: () => ({ entries: [], cursor: 0 }) })
  const { logged } = attend(t, list)
  for (let again = 0; again < 3; again++) {
    await pass(SECOND)
    assert.equal(verdictOf(list, tokenOf({ expiresAt: null })), true)
    const reason = 'the deny list refuses a token that lives longer than maxLifetime'
    assert.deepEqual(logged, [reason])
  }
})

/** Read without its other member, each would be an entry of all tokens of the issuer. */
const beside = (entry: object) => Object.assign(entry, { issuer: ISSUER_A })
const sub = (property: PropertyDescriptor) => Object.defineProperty({}, 'sub', property)
class User {
  get sub(): string {
    return 'alice'
  }
}

const NO_ENTRIES: [what: string, entry: unknown, message: RegExp][] = [
  ['nothing', undefined, /takes an entry/],
  ['a text', 'alice', /takes an entry/],
  ['no name', {}, /must name one of jti, sid, sub, issuer/],
  ['only a time', { issuedBefore: new Date() }, /must name one of/],
  ['an undefined sub', { sub: undefined, issuer: ISSUER_A }, /sub of an entry must be a string/],
  ['a sub that is null', { sub: null, issuer: ISSUER_A }, /sub of an entry must be a string/],
  ['a sub that is a number', { sub: 7 }, /sub of an entry must be a string/],
  ['an empty sub', { sub: '', issuer: ISSUER_A }, /sub of an entry must be a string of 1/],
  ['a sub that is too long', { sub: 'a'.repeat(65_537) }, /of 1 to 65536 characters/],
  ['a misspelt member', { sub: 'alice', isuer: ISSUER_A }, /an entry has jti, sid/],
  ['an undefined time', { sub: 'alice', issuedBefore: undefined }, /issuedBefore .* a Date/],
  ['a time that is a number', { sub: 'alice', until: 8.64e15 }, /until .* a Date/],
  ['a time that is a text', { sub: 'alice', until: '2099-01-01' }, /until .* a Date/],
  ['a time that is none', { sub: 'alice', until: new Date(Number.NaN) }, /time of an entry/],
  ['an inherited sub', Object.create({ sub: 'alice' }), /sub of an entry must be a plain member/],
  [
    'an inherited sub of an issuer',
    beside(Object.create({ sub: 'alice' })),
    /^sub .* plain member/,
  ],
  ['an inherited end', beside(Object.create({ until: new Date(4e12) })), /^until .* plain member/],
  ['a sub that is a getter', beside(sub({ get: () => 'alice', enumerable: true })), /plain member/],
  ['a hidden getter', beside(sub({ get: () => 'alice' })), /^sub .* plain member/],
  ['a hidden sub', beside(sub({ value: 'alice' })), /^sub of an entry must be a plain member/],
  ['a user of a class', beside(new User()), /^sub of an entry must be a plain member/],
  ['an empty issuer', { sub: 'alice', issuer: '' }, /^issuer of an entry must be a string of 1/],
  ['an end that is over', { sub: 'alice', until: new Date() }, /until of an entry is over/],
]

for (const [what, entry, message] of NO_ENTRIES) {
  test(`add refuses ${what}`, async () => {
    const list = denyList()
    const added: unknown = Reflect.apply(list.add, list, [entry])
    await assert.rejects(Promise.resolve(added), (error: Error) => {
      assert.ok(error instanceof TypeError, `no TypeError: ${error}`)
      assert.match(error.message, message)
      return true
    })
    assert.equal(list.size(), 0)
  })
}

test('a list of one process is ready at once, and has nothing to ask', async () => {
  const list = denyList()
  assert.equal(lifecycleOf(list)?.isReady, true)
  list.wake()
  await list.ready()
  openLifecycle(list).close()
  assert.equal(verdictOf(list), false)
})

test('an entry with issuedBefore fits a token of an unknown age, which an opaque one may be', async (t) => {
  stopClocks(t)
  const list = denyList()
  const names = { issuer: ISSUER_A, sub: 'alice', jti: null, sid: null }
  const token = tokenInfo(names, { iat: undefined, exp: undefined, nbf: undefined }, true)
  assert.equal(verdictOf(list, token), false)
  const ended: string[] = []
  const watch: WatchRevocation = Reflect.get(list, WATCH)
  const letGo = watch(token, () => ended.push('first'))
  for (const who of ['second', 'third']) watch(token, () => ended.push(who))
  letGo()
  await list.add({ sub: 'alice', issuedBefore: new Date(0) })
  assert.equal(verdictOf(list, token), true)
  assert.deepEqual(ended, ['second', 'third'], 'one that is let go takes no other one along')
})

test('a prototype that anybody has extended makes no entry wider', async (t) => {
  Object.defineProperty(Object.prototype, 'sub', { value: 'alice', configurable: true })
  t.after(() => Reflect.deleteProperty(Object.prototype, 'sub'))
  const list = denyList()
  await assert.rejects(list.add({ issuer: ISSUER_A }), TypeError)
  assert.equal(list.size(), 0)
})

test('entries of the same names count by themselves, and each as long as it says', async (t) => {
  const { pass } = stopClocks(t)
  const list = denyList()
  const issued = (at: number) => tokenOf({ issuedAt: new Date(START + at) })
  const add = (issuedBefore: number, until: number) =>
    list.add({
      sub: 'alice',
      issuedBefore: new Date(START + issuedBefore),
      until: new Date(START + until * SECOND),
    })
  await add(-3 * SECOND, 30)
  await add(-1 * SECOND, 10)
  await add(-2 * SECOND, 15)
  await add(-2 * SECOND, 20)
  await add(-5 * SECOND, 5)
  assert.equal(list.size(), 3, 'what says nothing new is not held')
  for (const [seconds, last] of [
    [9, -2],
    [19, -3],
    [29, -4],
  ] as const) {
    await pass(START + seconds * SECOND - Date.now())
    assert.equal(verdictOf(list, issued(last * SECOND)), true, `${seconds} s`)
    assert.equal(verdictOf(list, issued((last + 1) * SECOND)), false, `${seconds} s`)
  }
  await pass(SECOND)
  assert.equal(verdictOf(list, issued(-HOUR)), false)
  await add(-1, 60)
  assert.equal(list.size(), 1)
})

test('that a list is full is logged once, and again when it is full anew', async (t) => {
  const { pass } = stopClocks(t)
  const changes = () => ({ entries: [], cursor: 0 })
  const list = denyList({ maxEntries: 1, changes, append: () => {} })
  const { logged } = attend(t, list)
  const reason = 'the deny list is full (ERR_DENY_LIST_USER_FULL)'
  for (const expected of [[reason], [reason, reason]]) {
    const until = new Date(Date.now() + 90 * SECOND)
    for (const names of [{ jti: 'a' }, { jti: 'b' }, { sub: 'alice' }]) {
      await list.add({ ...names, until })
    }
    for (const seconds of [1, 70]) {
      await pass(seconds * SECOND)
      assert.equal(verdictOf(list), 'ERR_DENY_LIST_USER_FULL')
      assert.deepEqual(logged, expected)
    }
    await pass(60 * SECOND)
    assert.equal(verdictOf(list), false)
  }
})
