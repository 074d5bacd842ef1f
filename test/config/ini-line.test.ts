import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readItems, readValue, UnreadableValue } from '../../lib/config/ini-line.ts'

function unreadable(read: unknown, expected: string, found: string): void {
  assert.ok(read instanceof UnreadableValue, `it is read: ${read}`)
  assert.ok(read.expected.includes(expected), read.expected)
  assert.ok(read.found.includes(found), read.found)
}

describe('a value', () => {
  for (const [text, value] of [
    ['plain', 'plain'],
    ['  two  words\t', 'two  words'],
    ['', ''],
    ['a = b', 'a = b'],
    ['https://a.test/?x=1&y=[2]', 'https://a.test/?x=1&y=[2]'],
    ['a ; comment', 'a'],
    ['a\t# comment', 'a'],
    ['a ;', 'a'],
    ['; all comment', ''],
    ['# all comment', ''],
    ['a ; b ; c # d', 'a'],
    ['a # comment with "quotes"', 'a'],
    ['"a ; b # c"', 'a ; b # c'],
    ["'a ; b # c'", 'a ; b # c'],
    ['"a;b" ; comment', 'a;b'],
    ["'a#b' # comment", 'a#b'],
    ['"  a  "', '  a  '],
    ['"say \\"a\\" \\\\ \\u00e9"', 'say "a" \\ é'],
    ['"a \\"b\\" c"', 'a "b" c'],
    ['"\\"a\\" b"', '"a" b'],
    ['\'a "b" c\'', 'a "b" c'],
    ["'a\\nb'", 'a\\nb'],
    ['"it\'s"', "it's"],
    ['"\'tis"', "'tis"],
    ["it's", "it's"],
    ['""', ''],
    ["''", ''],
    ['true', 'true'],
    ['null', 'null'],
    ['"null"', 'null'],
    ["'true'", 'true'],
    ["'5'", '5'],
    ["'1e3'", '1e3'],
    ["'1.0'", '1.0'],
    ['\'"a"\'', '"a"'],
    ['"5"', '5'],
    ['__proto__', '__proto__'],
    ['[auth]', '[auth]'],
    ['añ√日本🦝', 'añ√日本🦝'],
  ] as const) {
    test(`${JSON.stringify(text)} is read as ${JSON.stringify(value)}`, () => {
      assert.equal(readValue(text.trim()), value)
    })
  }

  for (const text of [
    'a;b',
    'a; b',
    'a;',
    'a#',
    'a#b',
    'no;comment',
    'a\\;b',
    'a;b ; c',
    'a#b c',
  ]) {
    test(`${JSON.stringify(text)} has text glued to it, and is refused`, () => {
      unreadable(
        readValue(text),
        'white space before a comment, or quotes around the value',
        'glued',
      )
    })
  }

  for (const text of [
    '"a',
    'a"',
    '"',
    "'",
    "'a",
    "a'",
    '"a"b',
    '"a" "b"',
    '"a" b',
    "'a' 'b'",
    '"a\'',
    '"a\\"',
    '"a\\q"',
    '"a ; b',
  ]) {
    test(`${text} has only one quote, and is refused`, () => {
      unreadable(readValue(text), 'quotes', JSON.stringify(text))
    })
  }

  for (const text of ['"a"; b', "'a'#b"]) {
    test(`${text} has a comment glued to its quotes, and is refused`, () => {
      unreadable(readValue(text), 'white space before a comment', 'glued')
    })
  }
})

describe('a list', () => {
  for (const [text, items] of [
    ['', []],
    ['a', ['a']],
    ['a b', ['a', 'b']],
    ['a,b', ['a', 'b']],
    ['a ,\t b,', ['a', 'b']],
    ['a, ; b', ['a']],
    ['# a', []],
    ['"acme corp"', ['acme corp']],
    ["'acme corp'", ['acme corp']],
    ['"acme corp", b \'c, d\' e', ['acme corp', 'b', 'c, d', 'e']],
    ['"a" "b"', ['a', 'b']],
    ['"a","b"', ['a', 'b']],
    ['"a;b" # c', ['a;b']],
    ['"say \\"a\\" \\u00e9", b', ['say "a" é', 'b']],
    ["'a\\nb'", ['a\\nb']],
    ['a\\\\b c', ['a\\b', 'c']],
    ["it's o'clock", ["it's", "o'clock"]],
    ['""', ['']],
    ['__proto__', ['__proto__']],
    ['https://a.test/?x=1', ['https://a.test/?x=1']],
    ['=', '='],
    ['= a', '='],
    ['a =b', '='],
    ['"a', 'quotes'],
    ['a "b', 'quotes'],
    ['a, b"', 'quotes'],
    ['"a"b', 'quotes'],
    ['a"b c"', 'quotes'],
    ['"a"\'b\'', 'quotes'],
    ['"a\\q"', 'quotes'],
    ['"a ; b', 'quotes'],
    ['a;b', 'white space'],
    ['a,;b', 'white space'],
    ['"a"; b', 'white space'],
  ] as const) {
    test(`${JSON.stringify(text)} is ${JSON.stringify(items)}`, () => {
      const read = readItems(text)
      if (typeof items === 'string') unreadable(read, items, JSON.stringify(text))
      else assert.deepEqual(read, items)
    })
  }
})
