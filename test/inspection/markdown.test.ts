import assert from 'node:assert/strict'
import { test } from 'node:test'
import { code, codeCell, escaped } from '../../lib/inspection/matrix-table.ts'

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

for (const [text, plain, cell] of TEXTS) {
  test(`Markdown shows ${text} as it is`, () => {
    assert.equal(escaped(text), plain)
    assert.equal(codeCell(text), cell)
  })
}

test('outside of a table a bar needs no backslash, which code would show', () => {
  assert.equal(code('/:file(a|b)'), '`/:file(a|b)`')
})
