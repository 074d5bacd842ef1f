import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matrixMarkdown, matrixTable } from '../../lib/inspection/matrix-table.ts'
import { policyMatrix } from '../../lib/inspection/policy-matrix.ts'
import { listed, unknown } from '../helpers/app/listed.ts'

const routes = [
  listed('/:tenant/menu', { tenant: 'path', require: ['menu:read', 'menu:all'], resources: true }),
  listed('/:tenant/menu', {
    method: 'HEAD',
    tenant: 'path',
    require: ['menu:read', 'menu:all'],
    resources: true,
  }),
  listed('/health', { noauth: true }),
  listed('/orders', { tenant: 'optional', require: { any: ['a:b', 'c:d'] } }),
  listed('/orders', { method: 'POST', tenant: 'query', userInfo: true, authorization: true }),
  unknown('/early'),
]

test('the table has a row for each policy of a url, and says who may', () => {
  assert.equal(
    matrixTable(policyMatrix([routes])),
    `\
method     url            who may            tenant    require                 receives
GET, HEAD  /:tenant/menu  users              path      menu:all and menu:read  resources
GET        /early         not known, strict
GET        /health        everybody
GET        /orders        users              optional  any of a:b, c:d
POST       /orders        users              query                             userInfo, authorization
`,
  )
})

test('the lines of open routes are highlighted, and no other ones', () => {
  const table = matrixTable(policyMatrix([routes]), (line) => `<${line}>`)
  assert.deepEqual(
    table.split('\n').filter((line) => line.startsWith('<')),
    ['<GET        /health        everybody>'],
  )
})

test('each of several applications has a title', () => {
  const matrix = policyMatrix([[listed('/a')], [listed('/b')]])
  assert.equal(
    matrixTable(matrix),
    `Application 1

method  url  who may  tenant  require  receives
GET     /a   users

Application 2

method  url  who may  tenant  require  receives
GET     /b   users
`,
  )
  assert.match(matrixMarkdown(matrix), /^### Application 1\n\n\| method \|/)
})

test('in Markdown urls are code, and no character of theirs ends a cell or the code', () => {
  const odd = [listed('/a|b'), listed('/c`d``'), listed('/:file(^\\d+|x).*_')]
  assert.equal(
    matrixMarkdown(policyMatrix([odd])),
    `\
| method | url | who may | tenant | require | receives |
| --- | --- | --- | --- | --- | --- |
| GET | \`/:file(^\\d+\\|x).*_\` | users |  |  |  |
| GET | \`/a\\|b\` | users |  |  |  |
| GET | \`\`\` /c\`d\`\` \`\`\` | users |  |  |  |
`,
  )
})
