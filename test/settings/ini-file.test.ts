import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { readIniFile } from '../../lib/settings/ini-file.ts'
import { configError } from '../helpers/config-error.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const folder = tempFolder()

/** Key and value of each line of `[auth]` and `[tenants]`. */
function read(text: string | Uint8Array): string[][] {
  return readIniFile(folder.write(text)).map(({ key, value }) => [key, value])
}

function refuses(text: string | Uint8Array, ...parts: string[]): void {
  const file = folder.write(text)
  assert.throws(() => readIniFile(file), configError(...parts, file))
}

describe('an INI file', () => {
  test('gives the lines of [auth] and [tenants], with section and place', () => {
    const file = folder.write('[auth]\nrealm = a\n\n[tenants]\nids = b\n')
    assert.deepEqual(readIniFile(file), [
      { section: 'auth', key: 'realm', value: 'a', where: `${file}, line 2` },
      { section: 'tenants', key: 'ids', value: 'b', where: `${file}, line 5` },
    ])
  })

  for (const [name, text] of [
    ['nothing', ''],
    ['white space', ' \n\t\n'],
    ['comments', '; [auth]\n# realm = x\n   ; realm = x\n'],
    ['empty sections', '[auth]\n[tenants]\n'],
    ['the sections of others', '[server]\nport = 80\nport = 81\nbare\n[server]\nlist[] = 1\n= 5\n'],
    ['top-level keys of others', 'authority = a\nname = x\nbare\ntenant = a\n'],
  ] as const) {
    test(`may hold ${name}`, () => assert.deepEqual(read(text), []))
  }

  for (const [name, lineEnd] of [
    ['CRLF', '\r\n'],
    ['CR', '\r'],
    ['LF', '\n'],
  ] as const) {
    test(`may end its lines with ${name}`, () => {
      const text = ['[auth]', 'realm = a', '', 'issuer = b', '[app]', 'realm = c'].join(lineEnd)
      assert.deepEqual(read(text), [
        ['realm', 'a'],
        ['issuer', 'b'],
      ])
    })
  }

  test('may begin with a byte order mark', () => {
    assert.deepEqual(read('\ufeff[auth]\nrealm = a\n'), [['realm', 'a']])
    refuses('\ufeffauth = x\n', 'auth: ', 'line 1')
  })

  test('must be there', () => {
    const file = join(folder.path, 'missing.ini')
    const message = 'configFile: expected a readable INI file in UTF-8, found none at'
    assert.throws(() => readIniFile(file), configError(message, file))
  })

  test('must be a file', () => {
    assert.throws(() => readIniFile(folder.path), configError('configFile: ', folder.path))
  })

  test('must be readable', { skip: process.getuid?.() === 0 && 'root reads everything' }, () => {
    const file = folder.write('[auth]\n')
    chmodSync(file, 0)
    assert.throws(() => readIniFile(file), configError('configFile: ', file))
  })

  for (const [name, bytes] of [
    ['Latin-1', Buffer.from('[auth]\nrealm = caf\xe9\n', 'latin1')],
    ['UTF-16', Buffer.from('\ufeff[auth]\ndev_mode = yes\n', 'utf16le')],
    ['a cut character', Buffer.from('[auth]\nrealm = é').subarray(0, -1)],
    ['an overlong form', Buffer.from([...Buffer.from('[auth]\nrealm = '), 0xc0, 0xaf])],
  ] as const) {
    test(`must be UTF-8, not ${name}`, () => refuses(bytes, 'configFile: expected', 'UTF-8'))
  }
})

describe('a section line', () => {
  for (const line of [
    '[auth]',
    '[ auth ]',
    '  [auth]  ',
    '[auth] ; ours',
    '[auth]\t# ours',
    '[\tauth]',
  ]) {
    test(`${JSON.stringify(line)} is ours`, () => {
      assert.deepEqual(read(`${line}\nrealm = a\n`), [['realm', 'a']])
    })
  }

  for (const line of [
    '[authority]',
    '[oauth]',
    '[tenant]',
    '[app.auth]',
    '[auth-x]',
    '[]',
    '[__proto__]',
    '[constructor]',
    '[authx.auth]',
  ]) {
    test(`${line} belongs to the application`, () => {
      assert.deepEqual(read(`[auth]\nrealm = a\n${line}\ndev_mode = yes\nrealm = b\n`), [
        ['realm', 'a'],
      ])
    })
  }

  for (const line of [
    '[Auth]',
    '[AUTH]',
    '[aUTH ]',
    '["auth"]',
    "['auth']",
    '[" auth "]',
    '[auth.x]',
    '[auth .x]',
    '[ auth.keys ]',
    '["auth.x"]',
    '[auth\\.x]',
    '[Tenants]',
    '["tenants"]',
    '[tenants.ids]',
  ]) {
    test(`${line} is almost ours, and refused`, () => {
      refuses(`${line}\n`, 'a section: expected [auth] or [tenants], found [', 'line 1')
    })
  }

  for (const line of [
    '[auth',
    '[auth]x',
    '[auth]; ours',
    '[auth]#',
    '[auth]]',
    '[[auth]]',
    '[auth][tenants]',
    '[auth] dev_mode = yes',
    '[server',
    '[server] x',
    '  [',
    '[auth[]]',
  ]) {
    test(`${JSON.stringify(line)} is broken, and refused`, () => {
      refuses(
        `[app]\n${line}\n`,
        'a section: expected [name], found a broken section line',
        'line 2',
      )
    })
  }

  for (const section of ['[auth]', '[tenants]']) {
    test(`a second ${section} is refused, next to the first, after others, or spelt with spaces`, () => {
      const message = `${section}: expected it once, found it again`
      refuses(`${section}\n${section}\n`, message, 'line 2')
      refuses(`${section}\n[a]\n[b]\n${section}\n`, message, 'line 4')
      refuses(`${section}\n${section.replace('[', '[ ')} ; again\n`, message, 'line 2')
    })
  }

  for (const line of [
    'auth = x',
    'auth',
    'Auth=',
    '  tenants = a, b',
    'auth.dev_mode = yes',
    'auth[] = x',
    'auth[dev_mode] = x',
    '"auth" = x',
    "'tenants' = x",
  ]) {
    test(`${line} above all sections is refused`, () => {
      const key = line.split('=')[0]?.trim()
      refuses(
        `name = x\n${line}\n[auth]\n`,
        `${key}: expected a section [auth] or [tenants], found a top-level key`,
        'line 2',
      )
    })
  }
})

describe('a key', () => {
  for (const line of [
    'dev_mode',
    'dev_mode yes',
    'dev_mode: yes',
    '= yes',
    '==',
    'a ; = b\u2028c',
  ]) {
    test(`${JSON.stringify(line)} without a value is refused`, () => {
      refuses(`[auth]\n${line}\n`, `${line.trim()}: expected key = value, found no value`, 'line 2')
    })
  }

  test('is refused a second time, wherever in its section, and whatever the value', () => {
    const message = '[auth] realm: expected it once, found it again'
    refuses('[auth]\nrealm = a\nissuer = b\nrealm = a\n', message, 'line 4')
    refuses('[auth]\nrealm=a\n  realm\t=b\n', message, 'line 3')
  })

  test('may have the same name in both sections', () => {
    assert.deepEqual(read('[auth]\nx = a\n[tenants]\nx = b\n'), [
      ['x', 'a'],
      ['x', 'b'],
    ])
  })

  test('keeps brackets, dots, quotes and case, for the table of keys to refuse', () => {
    assert.deepEqual(read('[auth]\nids[] = a\na.b = c\n"d" = e\nRealm = f\n__proto__ = g\n'), [
      ['ids[]', 'a'],
      ['a.b', 'c'],
      ['"d"', 'e'],
      ['Realm', 'f'],
      ['__proto__', 'g'],
    ])
  })
})

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
    ['"5"', '5'],
    ['__proto__', '__proto__'],
    ['[auth]', '[auth]'],
    ['añ√日本🦝', 'añ√日本🦝'],
  ] as const) {
    test(`${JSON.stringify(text)} is read as ${JSON.stringify(value)}`, () => {
      assert.deepEqual(read(`[auth]\nrealm = ${text}\n`), [['realm', value]])
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
    test(`${JSON.stringify(text)} has something glued to it, and is refused`, () => {
      refuses(
        `[auth]\nrealm = ${text}\n`,
        'realm: expected white space before a comment, or quotes around the value, found ; or #',
        'line 2',
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
    test(`${text} is quoted by half, and refused`, () => {
      refuses(`[auth]\nrealm = ${text}\n`, 'realm: expected ', 'quotes', 'line 2')
    })
  }

  for (const text of ['"a"; b', "'a'#b"]) {
    test(`${text} has a comment glued to its quotes, and is refused`, () => {
      refuses(`[auth]\nrealm = ${text}\n`, 'realm: expected white space before a comment', 'line 2')
    })
  }
})
