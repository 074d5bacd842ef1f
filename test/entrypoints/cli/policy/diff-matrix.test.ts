import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  matrixDifferences,
  type UncoveredPlaces,
} from '../../../../lib/entrypoints/cli/policy/diff-matrix.ts'
import type { ListedRoute } from '../../../../lib/routes/route-list.ts'
import { listed, matrixOf, unknown } from '../../../helpers/app/listed.ts'

type Policy = Partial<ListedRoute>

function differences(
  was: readonly ListedRoute[][],
  is: readonly ListedRoute[][],
  uncovered: UncoveredPlaces = { beside: [], unguarded: [] },
): string[] {
  return matrixDifferences(matrixOf(was), matrixOf(is), uncovered).map(
    ({ effect, route, text }) => `${effect}: ${route}: ${text}`,
  )
}

const GUARDED = {}
const OPEN = { noauth: true }
const UNKNOWN = unknown('/orders')
const QUERY = { tenant: 'query' } as const
const OPTIONAL = { tenant: 'optional' } as const
const ALL = { require: ['a:b', 'c:d'] }
const ANY = { require: { any: ['a:b', 'c:d'] } }
const ONE = { require: ['a:b'] }

const NOT_KNOWN = 'not known (written before the plugin)'

/** A route before and after, what differs in which words, and what that does; backwards too. */
const CHANGES: readonly [
  was: Policy,
  is: Policy,
  what: string,
  before: string,
  after: string,
  forth: string,
  back: string,
][] = [
  [GUARDED, OPEN, '', 'guarded', 'open', 'opens', 'closes'],
  [ONE, OPEN, '', 'guarded', 'open', 'opens', 'closes'],
  [UNKNOWN, OPEN, '', NOT_KNOWN, 'open', 'opens', 'closes'],
  [UNKNOWN, GUARDED, '', NOT_KNOWN, 'guarded', 'opens', 'opens'],
  [{ tenant: 'path' }, { tenant: null }, 'tenant ', 'in the path', 'none', 'opens', 'closes'],
  [QUERY, { tenant: null }, 'tenant ', 'in the query', 'none', 'opens', 'closes'],
  [QUERY, OPTIONAL, 'tenant ', 'in the query', 'optional in the query', 'opens', 'closes'],
  [{ tenant: 'path' }, QUERY, 'tenant ', 'in the path', 'in the query', 'changes', 'changes'],
  [{ ...QUERY, ...ONE }, ONE, 'tenant ', 'in the query', 'none', 'opens', 'opens'],
  [ONE, { require: { any: [] } }, 'require ', 'a:b', 'what cannot be held', 'closes', 'opens'],
  [ONE, {}, 'require ', 'a:b', 'none', 'opens', 'closes'],
  [ALL, ONE, 'require ', 'a:b and c:d', 'a:b', 'opens', 'closes'],
  [ALL, ANY, 'require ', 'a:b and c:d', 'any of a:b, c:d', 'opens', 'closes'],
  [ONE, ANY, 'require ', 'a:b', 'any of a:b, c:d', 'opens', 'closes'],
  // A user with the one gets in who did not. One with the other does not any more.
  [ONE, { require: ['c:d'] }, 'require ', 'a:b', 'c:d', 'opens', 'opens'],
  [ONE, { require: { any: ['a:b'] } }, 'require ', 'a:b', 'any of a:b', 'changes', 'changes'],
]

for (const [was, is, what, before, after, forth, back] of CHANGES) {
  test(`${forth}: ${what}was ${before}, is ${after}; and backwards ${back}`, () => {
    const [one, other] = [[[listed('/orders', was)]], [[listed('/orders', is)]]]
    const forwards = `${forth}: GET /orders: ${what}was ${before}, is ${after}`
    assert.deepEqual(differences(one, other), [forwards])
    const backwards = `${back}: GET /orders: ${what}was ${after}, is ${before}`
    assert.deepEqual(differences(other, one), [backwards])
    assert.deepEqual(differences(one, one), [])
    assert.deepEqual(differences(other, other), [])
  })
}

test('differences that open something come first, then those that close, then the others', () => {
  const was = [listed('/a'), listed('/b', { noauth: true }), listed('/c', { tenant: 'path' })]
  const is = [
    listed('/a', ONE),
    listed('/b'),
    listed('/c', { tenant: 'query' }),
    listed('/d'),
    listed('/e', { noauth: true }),
    listed('/f', { guests: true }),
  ]
  assert.deepEqual(differences([was], [is]), [
    'opens: GET /e: is new: open',
    'opens: GET /f: is new: guarded, tenant none, require none, guests too',
    'closes: GET /a: require was none, is a:b',
    'closes: GET /b: was open, is guarded',
    'changes: GET /c: tenant was in the path, is in the query',
    'changes: GET /d: is new: guarded, tenant none, require none',
  ])
})

test('a new route opens if it lets in whom the pattern kept out that answered its url before', () => {
  const added = (pattern: string, url: string, policy: object) =>
    differences([[listed(pattern, ONE)]], [[listed(pattern, ONE), listed(url, policy)]])
  const words = 'is new: guarded, tenant none, require'
  for (const [pattern, url] of [
    ['/admin/*', '/admin/users'],
    ['/:page', '/about'],
    ['*', '/x'],
  ] as const) {
    assert.deepEqual(added(pattern, url, {}), [`opens: GET ${url}: ${words} none`])
    assert.deepEqual(added(pattern, url, ONE), [`changes: GET ${url}: ${words} a:b`])
    assert.deepEqual(added(pattern, url, ALL), [`changes: GET ${url}: ${words} a:b and c:d`])
  }
  assert.deepEqual(added('/admin/*', '/other', {}), [`changes: GET /other: ${words} none`])
})

test('a route that loses a constraint opens what a stricter pattern answered before', () => {
  const one = { constraints: { version: '1.0.0' } }
  const was = [listed('/u/:id', ONE), listed('/u/me', one)]
  assert.deepEqual(differences([was], [[listed('/u/:id', ONE), listed('/u/me')]]), [
    'opens: GET /u/me: constraints were version 1.0.0, are none',
  ])
})

test('a route that changes in two ways is two differences', () => {
  const was = [listed('/x', { tenant: 'query', require: ['a:b'] })]
  assert.deepEqual(differences([was], [[listed('/x', { require: ['a:b', 'c:d'] })]]), [
    'opens: GET /x: tenant was in the query, is none',
    'closes: GET /x: require was a:b, is a:b and c:d',
  ])
})

test('a route that is gone is shown with its policy', () => {
  const was = [listed('/x', { tenant: 'path', ...ALL }), listed('/y', OPEN)]
  assert.deepEqual(differences([was], [[]]), [
    'closes: GET /x: is gone: was guarded, tenant in the path, require a:b and c:d',
    'closes: GET /y: is gone: was open',
  ])
})

test('a GET route and its twin HEAD are one difference', () => {
  const twins = (more: Policy) => [listed('/x', more), listed('/x', { method: 'HEAD', ...more })]
  assert.deepEqual(differences([twins({})], [twins(OPEN)]), [
    'opens: GET, HEAD /x: was guarded, is open',
  ])
})

test('order, repetition and what a route declares to receive make no difference', () => {
  const was = [listed('/x', ALL), listed('/y', ANY), listed('/x', { method: 'HEAD' })]
  const is = [
    listed('/x', { method: 'HEAD', userInfo: true, authorization: true }),
    listed('/y', { require: { any: ['c:d', 'a:b', 'c:d'] }, resources: true }),
    listed('/x', { require: ['c:d', 'a:b'] }),
  ]
  assert.deepEqual(differences([was], [is]), [])
})

test('the one that changed of several routes of one place is the difference', () => {
  const was = [listed('/x', ONE), listed('/x', ALL)]
  assert.deepEqual(differences([was], [[listed('/x', OPEN), listed('/x', ALL)]]), [
    'opens: GET /x: was guarded, is open',
  ])
  assert.deepEqual(differences([was], [[...was, listed('/x', OPEN)]]), [
    'opens: GET /x: is new: open',
  ])
  assert.deepEqual(differences([was], [[listed('/x', ALL)]]), [
    'closes: GET /x: is gone: was guarded, tenant none, require a:b',
  ])
})

const PUBLIC = [listed('/menu'), listed('/orders')]
const ADMIN = [listed('/users'), listed('/orders', ONE)]

test('applications are matched by their routes, in any order', () => {
  assert.deepEqual(differences([PUBLIC, ADMIN], [ADMIN, PUBLIC]), [])
  const found = differences([PUBLIC, ADMIN], [ADMIN, [listed('/menu', OPEN), listed('/orders')]])
  assert.deepEqual(found, ['opens: application 2: GET /menu: was guarded, is open'])
})

test('an application that is new or gone is a difference, with its routes', () => {
  assert.deepEqual(differences([PUBLIC], [PUBLIC, [listed('/metrics', OPEN)]]), [
    'opens: application 2: GET /metrics: is new: open',
    'changes: guarded applications: were 1, are 2',
  ])
  assert.deepEqual(differences([PUBLIC, []], [PUBLIC]), [
    'changes: guarded applications: were 2, are 1',
  ])
  assert.deepEqual(differences([ADMIN, PUBLIC], [PUBLIC]), [
    'closes: application 2: GET /orders: is gone: was guarded, tenant none, require a:b',
    'closes: application 2: GET /users: is gone: was guarded, tenant none, require none',
    'changes: guarded applications: were 2, are 1',
  ])
})

const place = (url: string, method = 'GET') => ({ method, url })

test('a route that has lost its guard opens, and one that was open only changes', () => {
  const was = [listed('/x', ONE), listed('/y', { noauth: true }), listed('/z')]
  const beside = [[place('/x'), place('/y'), place('/z', 'POST')]]
  assert.deepEqual(differences([was], [[]], { beside, unguarded: [] }), [
    'opens: GET /x: was guarded, tenant none, require a:b; now it is there, and no guard covers it',
    'closes: GET /z: is gone: was guarded, tenant none, require none',
    'changes: GET /y: was open; now it is there, and no guard covers it',
  ])
})

test('a route that has moved to an instance without a guard opens', () => {
  const was = [listed('/x'), listed('/y')]
  const opens = 'was guarded, tenant none, require none; now it is there, and no guard covers it'
  const unguarded = [place('/y')]
  assert.deepEqual(differences([was], [[listed('/x')]], { beside: [], unguarded }), [
    `opens: GET /y: ${opens}`,
  ])
  const others = { beside: [[], [place('/y')]], unguarded: [] }
  assert.deepEqual(differences([was, PUBLIC], [[listed('/x')], PUBLIC], others), [
    `opens: application 1: GET /y: ${opens}`,
  ])
})

test('a route that has moved to an instance without a guard opens in another spelling too', () => {
  const was = [listed('/users/:id/:part?'), listed('/y')]
  for (const url of ['/users/:user', '/Users/:id/:part', '/users/:user/']) {
    const lines = differences([was], [[listed('/y')]], { beside: [], unguarded: [place(url)] })
    assert.match(
      String(lines),
      /^opens: GET \/users.*now it is there, and no guard covers it$/,
      url,
    )
  }
})

test('a route that has moved to another application opens if it is less strict there', () => {
  const was = [[listed('/x'), listed('/y', ONE)], PUBLIC]
  const gone = 'closes: application 1: GET /y: is gone: was guarded, tenant none, require a:b'
  const isNew = 'application 2: GET /y: is new: guarded, tenant none, require'
  assert.deepEqual(differences(was, [[listed('/x')], [...PUBLIC, listed('/y')]]), [
    `opens: ${isNew} none`,
    gone,
  ])
  assert.deepEqual(differences(was, [[listed('/x')], [...PUBLIC, listed('/y', ALL)]]), [
    gone,
    `changes: ${isNew} a:b and c:d`,
  ])
})

test('an application that has lost its guard opens, whatever its parameters are called now', () => {
  const was = [listed('/users/:id')]
  const lost = { beside: [[]], unguarded: [place('/users/:user')] }
  assert.deepEqual(differences([PUBLIC, was], [PUBLIC], lost), [
    'opens: guarded applications: were 2, are 1',
    'opens: application 2: GET /users/:id: was guarded, tenant none, require none; now it is there, and no guard covers it',
  ])
})

/** Successors of `GET /x/:id`, which required a:b. */
const SUCCESSORS: readonly [
  is: ListedRoute[],
  uncovered: string[],
  effect: string,
  more: string,
][] = [
  [[listed('/x/*', OPEN)], [], 'opens', '; now /x/* may answer, and that is open'],
  [[listed('/*')], ['/:a/:name'], 'opens', '; now /:a/:name may answer, and no guard covers that'],
  [[], ['*'], 'opens', '; now * may answer, and no guard covers that'],
  [[listed('/:a/:b', ANY)], [], 'opens', ` may answer, and that is guarded, tenant none, `],
  [[listed('/:a/:b', ONE)], [], 'changes', '; now /:a/:b may answer, and that is guarded, t'],
  [[listed('/x/:a', ALL)], [], 'closes', ''],
  [[listed('/x/*', { method: 'POST', ...OPEN })], [], 'closes', ''],
  [[listed('/x/export', OPEN)], ['/y/:id'], 'closes', ''],
]

for (const [is, uncovered, effect, more] of SUCCESSORS) {
  const now = [...is.map(({ method, url }) => `${method} ${url}`), ...uncovered].join(', ')
  test(`a route that is gone beside ${now} ${effect}`, () => {
    const beside = [uncovered.map((url) => place(url))]
    // The other routes were there before: they are no differences.
    const was = [listed('/x/:id', ONE), ...is]
    const [first = '', ...others] = differences([was], [is], { beside, unguarded: [] })
    assert.deepEqual(others, [])
    assert.match(first, new RegExp(`^${effect}: GET /x/:id: is gone: was guarded, tenant none, re`))
    assert.equal(first.includes(more), true, first)
    assert.equal(first.includes('; now '), more !== '', first)
  })
}

test('an open route that is gone beside an open wildcard changes', () => {
  const rest = listed('/*', OPEN)
  assert.deepEqual(differences([[listed('/health', OPEN), rest]], [[rest]]), [
    'changes: GET /health: is gone: was open; now /* may answer, and that is open',
  ])
})

test('a route that gains a version takes requests from a pattern of that version, and a host takes none', () => {
  const strict = (constraints: object) =>
    listed('/:page', { ...ONE, constraints: { ...constraints } })
  const gained = (name: string) => {
    const constraint = { [name]: '1.0.0' }
    const was = [strict(constraint), listed('/reports')]
    const is = [strict(constraint), listed('/reports', { constraints: constraint })]
    return differences([was], [is]).map((line) => line.split(':', 1)[0])
  }
  assert.deepEqual(gained('version'), ['opens'])
  assert.deepEqual(gained('region'), ['opens'])
  assert.deepEqual(gained('host'), ['closes'])
})

test('an open route that becomes a guarded one opens by a lost check alone', () => {
  const guarded = listed('/x', { tenant: 'query', require: ['a:b'], suspended: true })
  const effects = (was: Policy) =>
    differences([[listed('/x', { ...OPEN, ...was })]], [[guarded]]).map(
      (line) => line.split(':', 1)[0],
    )
  assert.deepEqual(effects({}), ['closes'])
  assert.deepEqual(effects({ check: ['signed'] }), ['opens', 'closes'])
  assert.deepEqual(effects({ tenant: 'query' }), ['opens', 'closes'], 'suspended tenants')
})
