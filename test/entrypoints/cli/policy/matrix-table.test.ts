import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  code,
  codeCell,
  escapeMarkdown,
  matrixMarkdown,
  matrixTable,
} from '../../../../lib/entrypoints/cli/policy/matrix-table.ts'
import { listed, matrixOf, unknown } from '../../../helpers/app/listed.ts'

const plain = (line: string) => line
const table = (applications: Parameters<typeof matrixOf>[0]) =>
  matrixTable(matrixOf(applications), plain)

/** A text, how it is escaped, and how it is code in a cell. */
const TEXTS: readonly [text: string, escaped: string, cell: string][] = [
  ['menu:read', 'menu:read', '`menu:read`'],
  ['a|b', 'a\\|b', '`a\\|b`'],
  ['a\\b', 'a\\\\b', '`a\\b`'],
  // In a span of code, the first backslash would be one for the second, and the bar end the cell.
  ['a\\|b', 'a\\\\\\|b', '<code>a&#92;&#124;b</code>'],
  ['`a``', '\\`a\\`\\`', '``` `a`` ```'],
  ['[a](b) _c_ *d* ~e~', '\\[a\\](b) \\_c\\_ \\*d\\* \\~e\\~', '`[a](b) _c_ *d* ~e~`'],
  ['<b>&amp;', '\\<b\\>\\&amp;', '`<b>&amp;`'],
  [
    '\\|<b> `é`',
    '\\\\\\|\\<b\\> \\`é\\`',
    '<code>&#92;&#124;&#60;b&#62;&#32;&#96;&#233;&#96;</code>',
  ],
]

for (const [text, escaped, cell] of TEXTS) {
  test(`Markdown shows ${text} as it is`, () => {
    assert.equal(escapeMarkdown(text), escaped)
    assert.equal(codeCell(text), cell)
  })
}

test('outside of a table a bar needs no backslash, which code would show', () => {
  assert.equal(code('/:file(a|b)'), '`/:file(a|b)`')
})

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
    table([routes]),
    `\
method     url            who may    tenant    require                 receives
GET, HEAD  /:tenant/menu  users      path      menu:all and menu:read  resources
GET        /early         not known
GET        /health        everybody
GET        /orders        users      optional  any of a:b, c:d
POST       /orders        users      query                             userInfo, authorization
`,
  )
})

test('the table says which login a route wants, beside what it requires', () => {
  const stepUp = { acr: ['phrh', 'phr'], maxAge: 300 }
  const [, row = ''] = table([[listed('/x', { require: ['a:b'], stepUp })]]).split('\n')
  assert.match(row, / a:b; login acr phr or phrh, at most 300 s old$/)
})

test('the lines of open routes are highlighted, and no other ones', () => {
  const hook = listed('/hook', { noauth: true, tenant: 'query', check: ['signature'] })
  const lines = matrixTable(matrixOf([[hook]]), (line) => `<${line}>`).split('\n')
  assert.equal(lines[1], '<GET     /hook  open, checked by signature  query>')
  const text = matrixTable(matrixOf([routes]), (line) => `<${line}>`)
  const found = text.split('\n').filter((line) => line.startsWith('<'))
  assert.deepEqual(found, ['<GET        /health        everybody>'])
})

test('each of several applications has a title', () => {
  const matrix = matrixOf([[listed('/a')], [listed('/b')]])
  assert.equal(
    matrixTable(matrix, plain),
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
    matrixMarkdown(matrixOf([odd])),
    `\
| method | url | who may | tenant | require | receives |
| --- | --- | --- | --- | --- | --- |
| GET | \`/:file(^\\d+\\|x).*_\` | users |  |  |  |
| GET | \`/a\\|b\` | users |  |  |  |
| GET | \`\`\` /c\`d\`\` \`\`\` | users |  |  |  |
`,
  )
})

const VERSIONS = [
  listed('/orders', { constraints: { version: '1.0.0' }, noauth: true }),
  listed('/orders', { constraints: { version: '2.0.0', host: '/^(a|b)$/' } }),
  listed('/orders', { method: 'HEAD', constraints: { version: '1.0.0' }, noauth: true }),
]

test('a url is shown with the constraints of its routes', () => {
  assert.equal(
    table([VERSIONS]),
    `\
method     url                                      who may    tenant  require  receives
GET        /orders (host /^(a|b)$/, version 2.0.0)  users
GET, HEAD  /orders (version 1.0.0)                  everybody
`,
  )
  assert.match(
    matrixMarkdown(matrixOf([VERSIONS])),
    /^\| GET \| `\/orders \(host \/\^\(a\\\|b\)\$\/, version 2\.0\.0\)` \| users /m,
  )
})

test('characters that nobody sees, or that move others, are shown by their number', () => {
  const odd = listed('/a\u202e\n\u001b[31m', {
    constraints: { version: '\u200b1' },
    require: ['a:\u2066b'],
  })
  const text = table([[odd]])
  assert.match(text, /\/a\\u202e\\u000a\\u001b\[31m \(version \\u200b1\) +users +a:\\u2066b\n$/)
  assert.doesNotMatch(text + matrixMarkdown(matrixOf([[odd]])), /[^\n -~]/)
})

test('in Markdown no requirement can be markup, or end its cell', () => {
  const odd = listed('/x', { require: ['a:b|c', '<b>:`d`', 'e_f:g\\'] })
  const found = matrixMarkdown(matrixOf([[odd]]))
  assert.match(found, /\| \\<b\\>:\\`d\\` and a:b\\\|c and e\\_f:g\\\\ \|/)
})

test('below the routes stands which ids imply others, in the order of the ids', () => {
  const implies = { 'menu:edit': ['menu:read'], 'admin:all': ['order:cancel', 'menu:edit'] }
  const matrix = matrixOf([[listed('/a')], [listed('/b')]], [implies, undefined])
  assert.equal(
    matrixTable(matrix, plain),
    `Application 1

method  url  who may  tenant  require  receives
GET     /a   users

admin:all implies menu:edit, order:cancel
menu:edit implies menu:read

Application 2

method  url  who may  tenant  require  receives
GET     /b   users
`,
  )
  assert.match(
    matrixMarkdown(matrix),
    /\|\n\n- admin:all implies menu:edit, order:cancel\n- menu:edit implies menu:read\n\n### App/,
  )
})

test('an implied id can neither hide characters nor be markup', () => {
  const matrix = matrixOf([[listed('/a')]], [{ '<b>:c': ['d:\u202e_e'] }])
  assert.match(matrixTable(matrix, plain), /\n<b>:c implies d:\\u202e_e\n$/)
  assert.match(matrixMarkdown(matrix), /\n- \\<b\\>:c implies d:\\\\u202e\\_e\n$/)
})
