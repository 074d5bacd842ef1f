import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matrixJson, readMatrix } from '../../../../lib/entrypoints/cli/policy/matrix.ts'
import { listed, matrixOf, unknown } from '../../../helpers/app/listed.ts'

const routes = [
  listed('/orders', { method: 'POST', require: ['order:write'] }),
  listed('/basket', { method: 'PUT' }),
  listed('/health', { noauth: true }),
  listed('/orders', { require: { any: ['order:read', 'order:write'] } }),
  unknown('/early'),
  listed('/orders', { require: ['order:read'] }),
]

test('the routes of an application stand in the order of url and method', () => {
  const [application] = matrixOf([routes]).applications
  assert.deepEqual(
    application?.routes.map(({ method, url, require }) => [method, url, require]),
    [
      ['PUT', '/basket', null],
      ['GET', '/early', null],
      ['GET', '/health', null],
      ['GET', '/orders', ['order:read']],
      ['GET', '/orders', { any: ['order:read', 'order:write'] }],
      ['POST', '/orders', ['order:write']],
    ],
  )
})

/** Those of one application: no two share a place. */
const distinct = routes.filter(({ require }) => require === null || !('any' in require))

test('the same policies in any order make the same text, byte for byte', () => {
  const turned = distinct.map((route) => Object.fromEntries(Object.entries(route).reverse()))
  const text = JSON.stringify({ applications: [{ routes: turned.reverse() }] })
  assert.deepEqual(readMatrix(text), matrixOf([distinct]))
  const again = matrixOf([[...routes].reverse()])
  assert.equal(matrixJson(again), matrixJson(matrixOf([routes])))
})

test('a file that was written holds guests, suspended tenants, checks, choices and logins', () => {
  const everyday = [
    listed('/guests', { guests: true, tenant: 'path', suspended: true }),
    listed('/hook', { noauth: true, tenant: 'query', check: ['signature'] }),
    listed('/late', { tenant: 'query', late: true }),
    listed('/check', { check: ['order:owner', 'order:open'] }),
    listed('/by', { require: { among: ['menu:read', 'menu:edit'] } }),
    listed('/login', { stepUp: { acr: ['phr', 'phrh'], maxAge: 300 } }),
    listed('/any/age', { stepUp: { acr: ['phr'], maxAge: null } }),
  ]
  const matrix = matrixOf([everyday], [{ 'menu:edit': ['menu:read'] }])
  assert.deepEqual(readMatrix(matrixJson(matrix)), matrix)
})

test('routes of one place stand in the order of their constraints', () => {
  const versions = [
    listed('/x', { constraints: { version: '2.0.0' } }),
    listed('/x', { constraints: { version: '1.0.0', host: 'a.example' }, noauth: true }),
    listed('/x', { require: ['z:z'] }),
    listed('/x', { constraints: { version: '1.0.0' }, require: ['a:b'] }),
    listed('/x', { method: 'DELETE', constraints: { version: '3.0.0' } }),
  ]
  const matrix = matrixOf([versions])
  assert.deepEqual(
    matrix.applications[0]?.routes.map(({ method, constraints }) => [method, constraints]),
    [
      ['DELETE', { version: '3.0.0' }],
      ['GET', { host: 'a.example', version: '1.0.0' }],
      ['GET', { version: '1.0.0' }],
      ['GET', { version: '2.0.0' }],
      ['GET', undefined],
    ],
  )
  assert.match(
    matrixJson(matrix),
    /^ +\{"method":"GET","url":"\/x","constraints":\{"host":"a.example","version":"1.0.0"\},"noauth":true,/m,
  )
  assert.deepEqual(readMatrix(matrixJson(matrix)), matrix)
  const turned = matrixJson(matrix).replace(
    '{"host":"a.example","version":"1.0.0"}',
    '{"version":"1.0.0","host":"a.example"}',
  )
  assert.deepEqual(readMatrix(turned), matrix)
})

test('a route without constraints has no such member, and an empty one is none', () => {
  const [, written] = [listed('/x'), listed('/x', { constraints: {} })].map((route) =>
    matrixJson(matrixOf([[route]])),
  )
  assert.equal(written, matrixJson(matrixOf([[listed('/x')]])))
  assert.doesNotMatch(String(written), /constraints/)
})

test('characters that nobody sees are written by their number, and read as they were', () => {
  const odd = listed('/a\u202eb\u200b\u00a0\n\u{e0041}', {
    constraints: { 'a\u2066': 'b\u2028\n' },
  })
  const { applications } = matrixOf([[odd]])
  const implies = { 'a:b\u202e': ['c:d\u200b'] }
  const matrix = { applications: applications.map((each) => ({ ...each, implies })) }
  const text = matrixJson(matrix)
  assert.match(text, /"a:b\\u202e": \["c:d\\u200b"\]/)
  assert.match(
    text,
    /"\/a\\u202eb\\u200b\\u00a0\\n\\udb40\\udc41","constraints":\{"a\\u2066":"b\\u2028\\n"\}/,
  )
  assert.doesNotMatch(text, /[^\n -~]/)
  assert.deepEqual(readMatrix(text), matrix)
})

test('a byte order mark before the JSON is skipped', () => {
  const matrix = matrixOf([distinct])
  assert.deepEqual(readMatrix(`\ufeff${matrixJson(matrix)}`), matrix)
})

test('each route has a line of its own, and the file ends with a newline', () => {
  assert.equal(
    matrixJson(matrixOf([[listed('/menu', { tenant: 'query', require: ['menu:read'] })], []])),
    `{
  "applications": [
    {
      "routes": [
        {"method":"GET","url":"/menu","noauth":false,"tenant":"query","require":["menu:read"],"seen":true,"userInfo":false,"resources":false,"authorization":false}
      ]
    },
    {
      "routes": [

      ]
    }
  ]
}
`,
  )
})

test('a matrix is read as it was written', () => {
  const matrix = matrixOf([distinct, [], [listed('/:tenant/x', { tenant: 'path' })]])
  assert.deepEqual(readMatrix(matrixJson(matrix)), matrix)
})

test('a route that a merge has left twice is named, and two versions are two routes', () => {
  const text = (...routes: object[]) =>
    JSON.stringify({ applications: [{ routes: [] }, { routes }] })
  const host = 'a.test'
  const first = { ...listed('/x'), constraints: { host, version: '1.0.0' } }
  const again = { ...listed('/x', { noauth: true }), constraints: { version: '1.0.0', host } }
  const words = 'GET /x (host a.test, version 1.0.0) stands twice in the file'
  assert.equal(readMatrix(text(first, listed('/x'), again)), words)
  assert.equal(readMatrix(text(listed('/x'), listed('/x'))), 'GET /x stands twice in the file')
  const second = { ...again, constraints: { host, version: '2.0.0' } }
  const near = { ...listed('/x'), constraints: { geo: '[Function] (cannot be compared)' } }
  const matrix = readMatrix(text(first, second, listed('/x', { method: 'PUT' }), near, near))
  assert.equal(typeof matrix, 'object')
})

const MARKED = `{
<<<<<<< HEAD
  "applications": []
=======
  "applications": [{ "routes": [] }]
>>>>>>> other
}`
const WINDOWS = MARKED.replaceAll('\n', '\r\n')

const withMore = (route: object, more: object = {}) =>
  JSON.stringify({ applications: [{ routes: [{ ...listed('/x'), ...route }], ...more }] })
const unread = (place: string) =>
  `it is no policy matrix: ${place} is not as --write of this version writes it`

const unreadIn = (place: string) => unread(`/applications/0/routes/0${place}`)

const WRONG: readonly [what: string, text: string, message: string][] = [
  ['no JSON', '{', 'it is no JSON'],
  ['the marks of a merge', MARKED, 'it has conflict markers of Git'],
  ['the marks of a merge on Windows', WINDOWS, 'it has conflict markers of Git'],
  ['a line that is no mark', '{\n<<<<<<<< x', 'it is no JSON'],
  ['a member of a later version', '{"applications":[],"later":1}', unread('/later')],
  ['such a member of an application', withMore({}, { later: {} }), unread('/applications/0/later')],
  ['such a member of a route', withMore({ later: true }), unreadIn('/later')],
  [
    'such a member of a login',
    withMore({ stepUp: { acr: ['phr'], maxAge: null, later: 1 } }),
    unreadIn('/stepUp/later'),
  ],
  [
    'such a member of a requirement',
    withMore({ require: { any: ['a:b'], later: ['c:d'] } }),
    unreadIn('/require'),
  ],
  ['a list', '[]', unread('/')],
  ['another object', '{}', unread('/applications')],
  ['a noauth that is a word', withMore({ noauth: 'no' }), unreadIn('/noauth')],
  ['a tenant in another place', withMore({ tenant: 'header' }), unreadIn('/tenant')],
  ['constraints that are a list', withMore({ constraints: ['1'] }), unreadIn('/constraints')],
  [
    'a constraint that is an object',
    withMore({ constraints: { a: {} } }),
    unreadIn('/constraints/a'),
  ],
  ['a route that lacks its requirement', withMore({ require: undefined }), unreadIn('/require')],
]

for (const [what, text, message] of WRONG) {
  test(`a file with ${what} is refused, and the message says where`, () => {
    assert.equal(readMatrix(text), message)
  })
}
