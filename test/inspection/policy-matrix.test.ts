import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matrixJson, policyMatrix } from '../../lib/inspection/policy-matrix.ts'
import { readMatrix } from '../../lib/inspection/read-matrix.ts'
import { listed, unknown } from '../helpers/app/listed.ts'

const routes = [
  listed('/orders', { method: 'POST', require: ['order:write'] }),
  listed('/basket', { method: 'PUT' }),
  listed('/health', { noauth: true }),
  listed('/orders', { require: { any: ['order:read', 'order:write'] } }),
  unknown('/early'),
  listed('/orders', { require: ['order:read'] }),
]

test('the routes of an application stand in the order of url and method', () => {
  const [application] = policyMatrix([routes]).applications
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

test('the same policies in any order make the same text, byte for byte', () => {
  const turned = routes.map((route) => Object.fromEntries(Object.entries(route).reverse()))
  const text = JSON.stringify({ applications: [{ routes: turned.reverse() }] })
  assert.deepEqual(readMatrix(text), policyMatrix([routes]))
  const again = policyMatrix([[...routes].reverse()])
  assert.equal(matrixJson(again), matrixJson(policyMatrix([routes])))
})

test('each route has a line of its own, and the file ends with a newline', () => {
  assert.equal(
    matrixJson(policyMatrix([[listed('/menu', { tenant: 'query', require: ['menu:read'] })], []])),
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

test('what was written is read as it was', () => {
  const matrix = policyMatrix([routes, [], [listed('/:tenant/x', { tenant: 'path' })]])
  assert.deepEqual(readMatrix(matrixJson(matrix)), matrix)
})

const WRONG: readonly [what: string, text: string, message: string][] = [
  ['no JSON', '{', 'it is no JSON'],
  ['nothing', '', 'it is no JSON'],
  ['a list', '[]', 'it is no policy matrix: / is not as --write writes it'],
  ['another object', '{}', 'it is no policy matrix: /applications is not as --write writes it'],
  [
    'a route whose noauth is a word',
    JSON.stringify({ applications: [{ routes: [{ ...listed('/x'), noauth: 'no' }] }] }),
    'it is no policy matrix: /applications/0/routes/0/noauth is not as --write writes it',
  ],
  [
    'a tenant in another place',
    JSON.stringify({ applications: [{ routes: [{ ...listed('/x'), tenant: 'header' }] }] }),
    'it is no policy matrix: /applications/0/routes/0/tenant is not as --write writes it',
  ],
  [
    'a route that lacks its requirement',
    JSON.stringify({ applications: [{ routes: [{ ...listed('/x'), require: undefined }] }] }),
    'it is no policy matrix: /applications/0/routes/0/require is not as --write writes it',
  ],
]

for (const [what, text, message] of WRONG) {
  test(`a file with ${what} is refused, and the message says where`, () => {
    assert.equal(readMatrix(text), message)
  })
}
