import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matrixDifferences } from '../../../../lib/entrypoints/cli/policy/diff-matrix.ts'
import { matrixJson, readMatrix } from '../../../../lib/entrypoints/cli/policy/matrix.ts'
import type { ConstrainedRoute } from '../../../../lib/routes/route-list.ts'
import { listed, matrixOf, unknown } from '../../../helpers/app/listed.ts'

type Routes = readonly ConstrainedRoute[]

const NONE = { beside: [], unguarded: [] }

function differences(was: Routes, is: Routes): string[] {
  return matrixDifferences(matrixOf([was]), matrixOf([is]), NONE).map(
    ({ effect, route, text }) => `${effect}: ${route}: ${text}`,
  )
}

const at = (constraints: ConstrainedRoute['constraints'] & object, more = {}): ConstrainedRoute =>
  listed('/x', { constraints, ...more })

const OPEN = { noauth: true }
const STRICT = { require: ['a:b'] }
const V1 = { version: '1.0.0' }
const V2 = { version: '2.0.0' }
const HOST = { host: 'a.example' }
const GUARDED = 'guarded, tenant none, require'

/** Routes of one url, before and after, and all their differences. */
const CASES: readonly [what: string, was: Routes, is: Routes, lines: string[]][] = [
  ['the same, in another order', [at(V1, OPEN), at(V2)], [at(V2), at(V1, OPEN)], []],
  [
    'the policies of two versions are swapped',
    [at(V1, OPEN), at(V2)],
    [at(V1), at(V2, OPEN)],
    [
      'opens: GET /x (version 2.0.0): was guarded, is open',
      'closes: GET /x (version 1.0.0): was open, is guarded',
    ],
  ],
  [
    'the policies of two hosts are swapped',
    [at(HOST, STRICT), at({ host: '/b/' })],
    [at(HOST), at({ host: '/b/' }, STRICT)],
    [
      'opens: GET /x (host a.example): require was a:b, is none',
      'closes: GET /x (host /b/): require was none, is a:b',
    ],
  ],
  [
    'an open route loses its constraint',
    [at(HOST, OPEN)],
    [listed('/x', OPEN)],
    ['opens: GET /x: constraints were host a.example, are none'],
  ],
  [
    'a route for guests loses its constraint',
    [at(HOST, { guests: true })],
    [listed('/x', { guests: true })],
    ['opens: GET /x: constraints were host a.example, are none'],
  ],
  [
    'an open route loses one of two constraints',
    [at({ ...V1, ...HOST }, OPEN)],
    [at(V1, OPEN)],
    [
      'opens: GET /x (version 1.0.0): constraints were host a.example, version 1.0.0, are version 1.0.0',
    ],
  ],
  [
    'an open route has another version',
    [at(V1, OPEN)],
    [at(V2, OPEN)],
    ['opens: GET /x (version 2.0.0): constraints were version 1.0.0, are version 2.0.0'],
  ],
  [
    'the case of a host does not count any more',
    [at({ host: '/^a$/' }, OPEN)],
    [at({ host: '/^a$/i' }, OPEN)],
    ['opens: GET /x (host /^a$/i): constraints were host /^a$/, are host /^a$/i'],
  ],
  [
    'a constraint of a strategy of its own changes its kind',
    [at({ edition: 1 }, OPEN)],
    [at({ edition: '1' }, OPEN)],
    ['opens: GET /x (edition 1): constraints were edition 1, are edition 1'],
  ],
  [
    'an open route gets a constraint',
    [listed('/x', OPEN)],
    [at(V1, OPEN)],
    ['closes: GET /x (version 1.0.0): constraints were none, are version 1.0.0'],
  ],
  [
    'a guarded route loses its constraint',
    [at(V1)],
    [listed('/x')],
    ['changes: GET /x: constraints were version 1.0.0, are none'],
  ],
  [
    'a guarded route gets a constraint, and an open one is left',
    [at(HOST), at(V1, OPEN)],
    [at({ ...HOST, ...V2 }), at(V1, OPEN)],
    [
      'opens: GET /x (host a.example, version 2.0.0): ' +
        'constraints were host a.example, are host a.example, version 2.0.0; ' +
        'now /x (version 1.0.0) may answer, and that is open',
    ],
  ],
  [
    'a guarded route gets a constraint, and an open wildcard is left',
    [listed('/x'), listed('/*', OPEN)],
    [at(V1), listed('/*', OPEN)],
    [
      'opens: GET /x (version 1.0.0): constraints were none, are version 1.0.0; ' +
        'now /* may answer, and that is open',
    ],
  ],
  [
    'a guarded route gets a constraint, and a stricter wildcard is left',
    [listed('/x'), listed('/*', STRICT)],
    [at(V1), listed('/*', STRICT)],
    ['closes: GET /x (version 1.0.0): constraints were none, are version 1.0.0'],
  ],
  [
    'a route whose policy is not known is new',
    [],
    [unknown('/x')],
    ['opens: GET /x: is new: not known (written before the plugin)'],
  ],
  [
    'a guarded route may take what a stricter one took',
    [at(V1, STRICT), at(V2)],
    [at(V1, STRICT), listed('/x')],
    ['opens: GET /x: constraints were version 2.0.0, are none'],
  ],
  [
    'a version changes with its policy',
    [at(V1)],
    [at(V2, STRICT)],
    [
      'closes: GET /x (version 2.0.0): require was none, is a:b',
      'changes: GET /x (version 2.0.0): constraints were version 1.0.0, are version 2.0.0',
    ],
  ],
  [
    'a version is gone, and the stricter one is left',
    [at(V1), at(V2, STRICT)],
    [at(V2, STRICT)],
    [`closes: GET /x (version 1.0.0): is gone: was ${GUARDED} none`],
  ],
  [
    'a version is gone, and an open one is left',
    [at(V1, STRICT), at(V2, OPEN)],
    [at(V2, OPEN)],
    [
      `opens: GET /x (version 1.0.0): is gone: was ${GUARDED} a:b; ` +
        'now /x (version 2.0.0) may answer, and that is open',
    ],
  ],
  [
    'a version is new, and as strict as the other',
    [at(V1, STRICT)],
    [at(V1, STRICT), at(V2, STRICT)],
    [`changes: GET /x (version 2.0.0): is new: ${GUARDED} a:b`],
  ],
  [
    'a version is new, and less strict than the other',
    [at(V1, STRICT)],
    [at(V1, STRICT), at(V2)],
    [`opens: GET /x (version 2.0.0): is new: ${GUARDED} none`],
  ],
  [
    'versions that differ alike are differences of their own',
    [at(V1), at(V2)],
    [at(V1, OPEN), at(V2, OPEN)],
    [
      'opens: GET /x (version 1.0.0): was guarded, is open',
      'opens: GET /x (version 2.0.0): was guarded, is open',
    ],
  ],
  [
    'a file knew no constraints, as those of early versions of the command',
    [listed('/x'), listed('/x', OPEN)],
    [at(V1), at(V2, OPEN)],
    [
      'opens: GET /x (version 1.0.0): constraints were none, are version 1.0.0; ' +
        'now /x (version 2.0.0) may answer, and that is open',
      'opens: GET /x (version 2.0.0): constraints were none, are version 2.0.0',
    ],
  ],
  [
    'an early route whose constraints were not known is seen now',
    [unknown('/x')],
    [at(V1)],
    [
      'opens: GET /x (version 1.0.0): was not known (written before the plugin), is guarded',
      'closes: GET /x (version 1.0.0): constraints were none, are version 1.0.0',
    ],
  ],
]

test('an open route that is guarded lets users in whom its check, or its tenant, kept out', () => {
  const was = { ...OPEN, tenant: 'path', check: ['own'] }
  assert.deepEqual(differences([at({}, was)], [at({}, { check: ['own'], tenant: 'path' })]), [
    'closes: GET /x: was open, tenant in the path, checked by own, is guarded',
  ])
  assert.deepEqual(differences([at({}, was)], [at({})]), [
    'opens: GET /x: tenant was in the path, is none',
    'opens: GET /x: check was own, is none',
    'closes: GET /x: was open, tenant in the path, checked by own, is guarded',
  ])
})

test('what keeps requests out of an open route is lost where no guard covers it', () => {
  const gone = (more: object) => {
    const is = { beside: [[{ method: 'GET', url: '/x' }]], unguarded: [] }
    const was = matrixOf([[at({}, { ...OPEN, ...more })]])
    return matrixDifferences(was, matrixOf([[]]), is).map(({ effect, text }) => [effect, text])
  }
  const isThere = 'now it is there, and no guard covers it'
  assert.deepEqual(gone({}), [['changes', `was open; ${isThere}`]])
  assert.deepEqual(gone({ check: ['own'] }), [['opens', `was open, checked by own; ${isThere}`]])
  assert.deepEqual(gone({ tenant: 'query' }), [
    ['opens', `was open, tenant in the query; ${isThere}`],
  ])
  const others = { beside: [[{ method: 'GET', url: '/:id' }]], unguarded: [] }
  const was = matrixOf([[at({}, { ...OPEN, check: ['own'] })]])
  const [difference] = matrixDifferences(was, matrixOf([[]]), others)
  assert.equal(difference?.effect, 'opens')
})

for (const [what, was, is, lines] of CASES) {
  test(`routes of one url, where ${what}`, () => {
    assert.deepEqual(differences(was, is), lines)
    assert.deepEqual(differences(is, is), [])
  })
}

test('a GET route and its twin HEAD are one difference for each version', () => {
  const twins = (more: object) =>
    [V1, V2].flatMap((each) => [at(each, more), at(each, { method: 'HEAD', ...more })])
  assert.deepEqual(differences(twins({}), twins(OPEN)), [
    'opens: GET, HEAD /x (version 1.0.0): was guarded, is open',
    'opens: GET, HEAD /x (version 2.0.0): was guarded, is open',
  ])
})

test('applications that differ in their hosts alone are matched by them', () => {
  const [a, b] = [[at(HOST, OPEN)], [at({ host: 'b.example' })]]
  assert.deepEqual(matrixDifferences(matrixOf([a, b]), matrixOf([b, a]), NONE), [])
})

const login = (maxAge: number | null, ...acr: string[]) => ({ stepUp: { acr, maxAge } })

const IN_PATH = { ...OPEN, tenant: 'path' }
const QUERY = { tenant: 'query' }
const ALL = { require: ['a:b', 'c:d'] }
const ANY = { require: { any: ['a:b', 'c:d'] } }
const BY_ONE = { require: { among: ['a:b'] } }
const BY_BOTH = { require: { among: ['a:b', 'c:d'] } }

/** What a route declares before and after, and the difference. */
const EVERYDAY: readonly [was: object, is: object, line: string | undefined][] = [
  [{}, { check: ['own'] }, 'closes: check was none, is own'],
  [{ check: ['own'] }, {}, 'opens: check was own, is none'],
  [{ check: ['a', 'b'] }, { check: ['b', 'a'] }, undefined],
  [OPEN, IN_PATH, 'closes: tenant was none, is in the path'],
  [{ ...OPEN, ...QUERY }, OPEN, 'opens: tenant was in the query, is none'],
  [IN_PATH, { ...IN_PATH, suspended: true }, 'opens: suspended tenants were kept out, are let in'],
  [{ ...IN_PATH, suspended: true }, IN_PATH, 'closes: suspended tenants were let in, are kept out'],
  [QUERY, { ...QUERY, late: true }, 'changes: decision was before the body, is after the body'],
  [{ ...QUERY, late: true }, QUERY, 'changes: decision was after the body, is before the body'],
  [OPEN, { ...OPEN, check: ['own'] }, 'closes: check was none, is own'],
  [{ ...OPEN, check: ['own'] }, OPEN, 'opens: check was own, is none'],
  [
    {},
    { ...IN_PATH, check: ['own'] },
    'opens: was guarded, is open, tenant in the path, checked by own',
  ],
  [{ check: ['a'] }, { check: ['b'] }, 'opens: check was a, is b'],
  [{ check: ['a'] }, { check: ['a', 'b'] }, 'closes: check was a, is a and b'],
  [BY_ONE, BY_BOTH, 'opens: require was by request: a:b, is by request: a:b | c:d'],
  [BY_BOTH, BY_ONE, 'changes: require was by request: a:b | c:d, is by request: a:b'],
  [ALL, BY_BOTH, 'opens: require was a:b and c:d, is by request: a:b | c:d'],
  [BY_BOTH, STRICT, 'opens: require was by request: a:b | c:d, is a:b'],
  [BY_BOTH, ANY, 'opens: require was by request: a:b | c:d, is any of a:b, c:d'],
  [BY_BOTH, ALL, 'closes: require was by request: a:b | c:d, is a:b and c:d'],
  [BY_ONE, {}, 'opens: require was by request: a:b, is none'],
  [{}, BY_ONE, 'closes: require was none, is by request: a:b'],
  [{}, login(300), 'closes: login was any, is at most 300 s old'],
  [{}, login(null, 'phr'), 'closes: login was any, is acr phr'],
  [login(300), {}, 'opens: login was at most 300 s old, is any'],
  [login(null, 'phr'), {}, 'opens: login was acr phr, is any'],
  [login(300), login(299), 'closes: login was at most 300 s old, is at most 299 s old'],
  [login(300), login(301), 'opens: login was at most 300 s old, is at most 301 s old'],
  [login(null, 'a', 'b'), login(null, 'b', 'a'), undefined],
  [login(null, 'a', 'b'), login(null, 'b'), 'closes: login was acr a or b, is acr b'],
  [login(null, 'a'), login(null, 'a', 'b'), 'opens: login was acr a, is acr a or b'],
  [login(null, 'a'), login(null, 'b'), 'opens: login was acr a, is acr b'],
  [
    login(60, 'a', 'b'),
    login(300, 'a'),
    'opens: login was acr a or b, at most 60 s old, is acr a, at most 300 s old',
  ],
  [
    login(300, 'a', 'b'),
    login(60, 'a'),
    'closes: login was acr a or b, at most 300 s old, is acr a, at most 60 s old',
  ],
  [login(300, 'a'), login(60), 'opens: login was acr a, at most 300 s old, is at most 60 s old'],
  [login(300, 'a'), login(null, 'a'), 'opens: login was acr a, at most 300 s old, is acr a'],
  [login(null, 'a'), login(0), 'opens: login was acr a, is at most 0 s old'],
]

for (const [was, is, line] of EVERYDAY) {
  test(`from ${JSON.stringify(was)} to ${JSON.stringify(is)}: ${line}`, () => {
    const found = differences([listed('/x', was)], [listed('/x', is)])
    assert.deepEqual(found, line === undefined ? [] : [line.replace(': ', ': GET /x: ')])
  })
}

test('a further arrow opens, a removed one closes, and their order is no difference', () => {
  const matrix = (implies?: Record<string, string[]>) => matrixOf([[listed('/x')]], [implies])
  const between = (was?: Record<string, string[]>, is?: Record<string, string[]>) =>
    matrixDifferences(matrix(was), matrix(is), NONE).map(
      ({ effect, route, text }) => `${effect}: ${route}: ${text}`,
    )
  const both = { 'a:b': ['c:d', 'e:f'] }
  assert.deepEqual(between(both, { 'a:b': ['e:f', 'c:d'] }), [])
  assert.deepEqual(between({ 'a:b': ['c:d'] }, both), ['opens: implies: a:b -> e:f is new'])
  assert.deepEqual(between(both, undefined), [
    'closes: implies: a:b -> c:d is gone',
    'closes: implies: a:b -> e:f is gone',
  ])
  const text = matrixJson(matrix(both))
  assert.deepEqual(readMatrix(text), matrix(both))
  assert.match(text, /"implies": \{\n {8}"a:b": \["c:d","e:f"\]\n {6}\}/)
})
