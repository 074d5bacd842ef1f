import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  matrixDifferences,
  type UncoveredPlaces,
} from '../../../../lib/entrypoints/cli/policy/diff-matrix.ts'
import { policyMatrix } from '../../../../lib/entrypoints/cli/policy/matrix.ts'
import type { ListedRoute } from '../../../../lib/routes/route-list.ts'
import { listed, unknown } from '../../../helpers/app/listed.ts'

type Policy = Partial<ListedRoute>

function told(
  was: readonly ListedRoute[][],
  is: readonly ListedRoute[][],
  uncovered: UncoveredPlaces = { beside: [], unguarded: [] },
): string[] {
  return matrixDifferences(policyMatrix(was), policyMatrix(is), uncovered).map(
    ({ effect, route, text }) => `${effect}: ${route}: ${text}`,
  )
}

const GUARDED = {}
const OPEN = { noauth: true }
const UNKNOWN = unknown('/orders')
const ALL = { require: ['a:b', 'c:d'] }
const ANY = { require: { any: ['a:b', 'c:d'] } }
const ONE = { require: ['a:b'] }

/** What a route was, what it is, and what is told of it; backwards too. */
const CHANGES: readonly [was: Policy, is: Policy, forth: string, back: string][] = [
  [GUARDED, OPEN, 'opens: was guarded, is open', 'closes: was open, is guarded'],
  [ONE, OPEN, 'opens: was guarded, is open', 'closes: was open, is guarded'],
  [
    UNKNOWN,
    OPEN,
    'opens: was not known (written before the plugin), is open',
    'closes: was open, is not known (written before the plugin)',
  ],
  [
    UNKNOWN,
    GUARDED,
    'opens: was not known (written before the plugin), is guarded',
    'opens: was guarded, is not known (written before the plugin)',
  ],
  [
    { tenant: 'path' },
    { tenant: null },
    'opens: tenant was in the path, is none',
    'closes: tenant was none, is in the path',
  ],
  [
    { tenant: 'query' },
    { tenant: null },
    'opens: tenant was in the query, is none',
    'closes: tenant was none, is in the query',
  ],
  [
    { tenant: 'query' },
    { tenant: 'optional' },
    'opens: tenant was in the query, is optional in the query',
    'closes: tenant was optional in the query, is in the query',
  ],
  [
    { tenant: 'path' },
    { tenant: 'query' },
    'changes: tenant was in the path, is in the query',
    'changes: tenant was in the query, is in the path',
  ],
  [
    { tenant: 'query', ...ONE },
    ONE,
    'opens: tenant was in the query, is none',
    'opens: tenant was none, is in the query',
  ],
  [
    ONE,
    { require: { any: [] } },
    'closes: require was a:b, is what cannot be held',
    'opens: require was what cannot be held, is a:b',
  ],
  [ONE, {}, 'opens: require was a:b, is none', 'closes: require was none, is a:b'],
  [ALL, ONE, 'opens: require was a:b and c:d, is a:b', 'closes: require was a:b, is a:b and c:d'],
  [
    ALL,
    ANY,
    'opens: require was a:b and c:d, is any of a:b, c:d',
    'closes: require was any of a:b, c:d, is a:b and c:d',
  ],
  [
    ONE,
    ANY,
    'opens: require was a:b, is any of a:b, c:d',
    'closes: require was any of a:b, c:d, is a:b',
  ],
  // A user with the one gets in who did not. One with the other does not any more.
  [ONE, { require: ['c:d'] }, 'opens: require was a:b, is c:d', 'opens: require was c:d, is a:b'],
  [
    ONE,
    { require: { any: ['a:b'] } },
    'changes: require was a:b, is any of a:b',
    'changes: require was any of a:b, is a:b',
  ],
]

for (const [was, is, forth, back] of CHANGES) {
  test(`a route that changes is told: ${forth}`, () => {
    const at = (text: string): string[] => [text.replace(': ', ': GET /orders: ')]
    const [before, after] = [[[listed('/orders', was)]], [[listed('/orders', is)]]]
    assert.deepEqual(told(before, after), at(forth))
    assert.deepEqual(told(after, before), at(back))
    assert.deepEqual(told(before, before), [])
    assert.deepEqual(told(after, after), [])
  })
}

test('what opens something is told first, then what closes, then what changes otherwise', () => {
  const was = [listed('/a'), listed('/b', { noauth: true }), listed('/c', { tenant: 'path' })]
  const is = [
    listed('/a', ONE),
    listed('/b'),
    listed('/c', { tenant: 'query' }),
    listed('/d'),
    listed('/e', { noauth: true }),
  ]
  assert.deepEqual(told([was], [is]), [
    'opens: GET /e: is new: open',
    'closes: GET /a: require was none, is a:b',
    'closes: GET /b: was open, is guarded',
    'changes: GET /c: tenant was in the path, is in the query',
    'changes: GET /d: is new: guarded, tenant none, require none',
  ])
})

test('a route that changes in two ways is told of twice', () => {
  const was = [listed('/x', { tenant: 'query', require: ['a:b'] })]
  assert.deepEqual(told([was], [[listed('/x', { require: ['a:b', 'c:d'] })]]), [
    'opens: GET /x: tenant was in the query, is none',
    'closes: GET /x: require was a:b, is a:b and c:d',
  ])
})

test('a route that is gone is told with what it was', () => {
  const was = [listed('/x', { tenant: 'path', ...ALL }), listed('/y', OPEN)]
  assert.deepEqual(told([was], [[]]), [
    'closes: GET /x: is gone: was guarded, tenant in the path, require a:b and c:d',
    'closes: GET /y: is gone: was open',
  ])
})

test('a GET route and its twin HEAD are one difference', () => {
  const twins = (more: Policy) => [listed('/x', more), listed('/x', { method: 'HEAD', ...more })]
  assert.deepEqual(told([twins({})], [twins(OPEN)]), ['opens: GET, HEAD /x: was guarded, is open'])
})

test('order, repetition and what a route declares to receive make no difference', () => {
  const was = [listed('/x', ALL), listed('/y', ANY), listed('/x', { method: 'HEAD' })]
  const is = [
    listed('/x', { method: 'HEAD', userInfo: true, authorization: true }),
    listed('/y', { require: { any: ['c:d', 'a:b', 'c:d'] }, resources: true }),
    listed('/x', { require: ['c:d', 'a:b'] }),
  ]
  assert.deepEqual(told([was], [is]), [])
})

test('of several routes of one place, such as versions, the one that changed is told', () => {
  const was = [listed('/x', ONE), listed('/x', ALL)]
  assert.deepEqual(told([was], [[listed('/x', OPEN), listed('/x', ALL)]]), [
    'opens: GET /x: was guarded, is open',
  ])
  assert.deepEqual(told([was], [[...was, listed('/x', OPEN)]]), ['opens: GET /x: is new: open'])
  assert.deepEqual(told([was], [[listed('/x', ALL)]]), [
    'closes: GET /x: is gone: was guarded, tenant none, require a:b',
  ])
})

const PUBLIC = [listed('/menu'), listed('/orders')]
const ADMIN = [listed('/users'), listed('/orders', ONE)]

test('applications are matched by their routes, in any order', () => {
  assert.deepEqual(told([PUBLIC, ADMIN], [ADMIN, PUBLIC]), [])
  assert.deepEqual(told([PUBLIC, ADMIN], [ADMIN, [listed('/menu', OPEN), listed('/orders')]]), [
    'opens: application 2: GET /menu: was guarded, is open',
  ])
})

test('an application that is new or gone is told, with its routes', () => {
  assert.deepEqual(told([PUBLIC], [PUBLIC, [listed('/metrics', OPEN)]]), [
    'opens: application 2: GET /metrics: is new: open',
    'changes: guarded applications: were 1, are 2',
  ])
  assert.deepEqual(told([PUBLIC, []], [PUBLIC]), ['changes: guarded applications: were 2, are 1'])
  assert.deepEqual(told([ADMIN, PUBLIC], [PUBLIC]), [
    'closes: application 2: GET /orders: is gone: was guarded, tenant none, require a:b',
    'closes: application 2: GET /users: is gone: was guarded, tenant none, require none',
    'changes: guarded applications: were 2, are 1',
  ])
})

const place = (url: string, method = 'GET') => ({ method, url })

test('a route that has lost its guard opens, and one that was open only changes', () => {
  const was = [listed('/x', ONE), listed('/y', { noauth: true }), listed('/z')]
  const beside = [[place('/x'), place('/y'), place('/z', 'POST')]]
  assert.deepEqual(told([was], [[]], { beside, unguarded: [] }), [
    'opens: GET /x: was guarded, tenant none, require a:b; now it is there, and no guard covers it',
    'closes: GET /z: is gone: was guarded, tenant none, require none',
    'changes: GET /y: was open; now it is there, and no guard covers it',
  ])
})

test('a route that has moved to an instance without a guard opens', () => {
  const was = [listed('/x'), listed('/y')]
  const opens = 'was guarded, tenant none, require none; now it is there, and no guard covers it'
  const unguarded = [place('/y')]
  assert.deepEqual(told([was], [[listed('/x')]], { beside: [], unguarded }), [
    `opens: GET /y: ${opens}`,
  ])
  const others = { beside: [[], [place('/y')]], unguarded: [] }
  assert.deepEqual(told([was, PUBLIC], [[listed('/x')], PUBLIC], others), [
    `opens: application 1: GET /y: ${opens}`,
  ])
})

test('a route that has moved to an instance without a guard opens in another spelling too', () => {
  const was = [listed('/users/:id/:part?'), listed('/y')]
  for (const url of ['/users/:user', '/Users/:id/:part', '/users/:user/']) {
    const lines = told([was], [[listed('/y')]], { beside: [], unguarded: [place(url)] })
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
  assert.deepEqual(told(was, [[listed('/x')], [...PUBLIC, listed('/y')]]), [
    `opens: ${isNew} none`,
    gone,
  ])
  assert.deepEqual(told(was, [[listed('/x')], [...PUBLIC, listed('/y', ALL)]]), [
    gone,
    `changes: ${isNew} a:b and c:d`,
  ])
})

test('an application that has lost its guard opens, whatever its parameters are called now', () => {
  const was = [listed('/users/:id')]
  const lost = { beside: [[]], unguarded: [place('/users/:user')] }
  assert.deepEqual(told([PUBLIC, was], [PUBLIC], lost), [
    'opens: guarded applications: were 2, are 1',
    'opens: application 2: GET /users/:id: was guarded, tenant none, require none; now it is there, and no guard covers it',
  ])
})

/** What answers in the place of `GET /x/:id`, which asked for a:b in the path's tenant. */
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
    // The other routes were there before: what they say is not told again.
    const was = [listed('/x/:id', ONE), ...is]
    const [first = '', ...others] = told([was], [is], { beside, unguarded: [] })
    assert.deepEqual(others, [])
    assert.match(first, new RegExp(`^${effect}: GET /x/:id: is gone: was guarded, tenant none, re`))
    assert.equal(first.includes(more), true, first)
    assert.equal(first.includes('; now '), more !== '', first)
  })
}

test('an open route that is gone beside an open wildcard changes', () => {
  const rest = listed('/*', OPEN)
  assert.deepEqual(told([[listed('/health', OPEN), rest]], [[rest]]), [
    'changes: GET /health: is gone: was open; now /* may answer, and that is open',
  ])
})
