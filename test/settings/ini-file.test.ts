import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type IniEntry, type IniSection, readIniFile } from '../../lib/settings/ini-file.ts'
import { Problems } from '../../lib/settings/problems.ts'
import { configError } from '../helpers/app/config-error.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const folder = tempFolder()

/** @throws ERR_AUTH_CONFIG_INVALID */
function linesOf(file: string): (IniSection | IniEntry)[] {
  const problems = new Problems()
  const lines = [...readIniFile(file, problems)]
  problems.throwIfAny()
  return lines
}

function entriesOf(file: string): IniEntry[] {
  return linesOf(file).filter((line) => line.kind === 'entry')
}

/** Key and value of each entry of our sections. */
function read(text: string | Uint8Array): string[][] {
  return entriesOf(folder.write(text)).map(({ key, value }) => [key, value])
}

function refuses(text: string | Uint8Array, ...parts: (string | RegExp)[]): void {
  const file = folder.write(text)
  assert.throws(() => entriesOf(file), configError(...parts, file))
}

describe('an INI file', () => {
  test('gives the lines of our sections, with section and place', () => {
    const file = folder.write('[auth]\nrealm = a\n\n[tenants]\n[app]\nx = y\n[auth.acme]\nissuer=b')
    const at = (line: number) => `${file}, line ${line}`
    assert.deepEqual(linesOf(file), [
      { kind: 'section', section: 'auth', where: at(1) },
      { kind: 'entry', section: 'auth', key: 'realm', value: 'a', where: at(2) },
      { kind: 'section', section: 'tenants', where: at(4) },
      { kind: 'section', section: 'auth.acme', where: at(7) },
      { kind: 'entry', section: 'auth.acme', key: 'issuer', value: 'b', where: at(8) },
    ])
  })

  for (const [name, text] of [
    ['white space', ' \n\t\n'],
    ['comments', '; [auth]\n# realm = x\n   ; realm = x\n'],
    ['empty sections', '[tenants]\n[app]\n'],
    ['the sections of others', '[server]\nport = 80\nport = 81\nbare\n[server]\nlist[] = 1\n= 5\n'],
    [
      'keys of others that are called like our sections',
      '[server]\nauth = x\ntenants[] = x\nauth\n',
    ],
    ['lists of others over several lines', '[server]\nlist = [\n  a\n]\nother]\n'],
  ] as const) {
    test(`may hold ${name}`, () => assert.deepEqual(read(`[auth]\n${text}`), []))
  }

  test('may hold top-level keys of the application', () => {
    const text = 'authority = a\nname = x\nbare\ntenant = a\noauth = b\n[auth]\n'
    assert.deepEqual(read(text), [])
  })

  for (const [name, text] of [
    ['nothing', ''],
    ['white space', ' \n\t\n'],
    ['comments', '; [auth]\n# realm = x\n'],
    ['sections of others', '[server]\nport = 80\n[author]\nname = x\n'],
    ['top-level keys', 'issuer = https://a.test\n'],
  ] as const) {
    test(`must not hold ${name} alone`, () => {
      refuses(
        text,
        /^configFile: expected a section \[auth\], \[auth\.NAME\] or \[tenants\], found none \(/,
      )
    })
  }

  test('shows all its problems, line by line, each of them once', () => {
    const file = folder.write(
      'auth = 1\n[auht]\nx = 1\n[Auth]\n[tenants]\nids = a;b\nids\n[tenants]\n',
    )
    assert.throws(
      () => entriesOf(file),
      (error: Error) => {
        const told = error.message.split('\n').map((line) => /line \d+/.exec(line)?.[0])
        assert.deepEqual(
          told,
          [1, 2, 4, 6, 7, 8].map((line) => `line ${line}`),
        )
        return true
      },
    )
  })

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

  test('must exist', () => {
    const file = join(folder.path, 'missing.ini')
    const message = 'configFile: expected a readable INI file in UTF-8, found none at'
    assert.throws(() => entriesOf(file), configError(message, file))
  })

  test('must be a file', () => {
    assert.throws(() => entriesOf(folder.path), configError('configFile: ', folder.path))
  })

  test('must be readable', { skip: process.getuid?.() === 0 && 'root reads everything' }, () => {
    const file = folder.write('[auth]\n')
    chmodSync(file, 0)
    assert.throws(() => entriesOf(file), configError('configFile: ', file))
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
    '[author]',
    '[tenancy]',
    '[app.auth]',
    '[auth-x]',
    '[]',
    '[__proto__]',
    '[constructor]',
    '[authx.auth]',
    '[auth_acme]',
    '[authority of ours]',
    '[app auth]',
  ]) {
    test(`${line} belongs to the application`, () => {
      assert.deepEqual(read(`[auth]\nrealm = a\n${line}\ndev_mode = yes\nrealm = b\n`), [
        ['realm', 'a'],
      ])
    })
  }

  for (const name of ['acme', 'acme-test_1.x', '7', '.', '__proto__', 'N'.repeat(64)]) {
    test(`[auth.${name}] is that of an issuer, and ours`.slice(0, 60), () => {
      assert.deepEqual(read(`[ auth.${name} ] ; ours\nissuer = a\n`), [['issuer', 'a']])
      const again = `[auth.${name}]: expected it once, found it again`
      refuses(`[auth.${name}]\n[app]\n[auth.${name}]\n`, again, 'line 3')
    })
  }

  for (const line of [
    '[auth.]',
    '[auth.acme test]',
    '[auth. acme]',
    '[auth acme]',
    '[auth\tacme]',
    '[auth|acme]',
    '[auth@acme]',
    '[auth=acme]',
    '[auth,acme]',
    '[Auth acme]',
    '[Auth.acme]',
    '[AUTH.ACME]',
    '[auht.acme]',
    '[auth..acme\u200b]',
    '[auth.acm\u00e9]',
    '[\uff41uth\uff0eacme]',
    '[auth\u2024acme]',
    '[\u0430uth.acme]',
    '[auth:acme]',
    '[auth/acme]',
    '[auth "acme"]',
    `[auth.${'N'.repeat(65)}]`,
  ]) {
    test(`${JSON.stringify(line)} is nearly that of an issuer, and refused`.slice(0, 80), () => {
      const message = 'a section: expected [auth], [auth.NAME] or [tenants], found ['
      const hint = line === '[auth.]' ? 'did you mean [auth]?' : 'did you mean [auth.NAME]?'
      refuses(`[auth]\n[auth.acme]\n${line}\n`, message, 'line 3', hint)
    })
  }

  for (const line of ['[oauth.github]', '[auto.acme]', '[aut.acme]']) {
    test(`${line} is refused, unless [auth] stands in the file too`, () => {
      refuses(`[auth.acme]\n${line}\n`, 'did you mean [auth]?', `found ${line}`, 'line 2')
      assert.deepEqual(read(`${line}\nrealm = a\n[auth]\nrealm = b\n`), [['realm', 'b']])
    })
  }

  for (const line of ['[oauth]', '[authn]', '[auto]', '[auth0]', '[aut]', '[Oauth]']) {
    test(`${line} is refused, unless the file has [auth] too`, () => {
      const hint = 'did you mean [auth]? An application may have it beside a section [auth]'
      refuses(
        `${line}\n`,
        `expected [auth], [auth.NAME] or [tenants], found ${line}`,
        'line 1',
        hint,
      )
      refuses(`[tenants]\nids = a\n${line}\nissuer = a\n`, hint, 'line 3')
      assert.deepEqual(read(`${line}\nrealm = a\n[auth]\nrealm = b\n`), [['realm', 'b']])
    })
  }

  test('[tenant] is refused, unless the file has [tenants] too', () => {
    refuses('[auth]\n[tenant]\nids = a\n', 'found [tenant]', 'did you mean [tenants]?', 'line 2')
    assert.deepEqual(read('[tenant]\nids = a\n[tenants]\nids = b\n'), [['ids', 'b']])
  })

  for (const line of [
    '[Auth]',
    '[AUTH]',
    '[auht]',
    '[tenatns]',
    '[au th]',
    '[a_u_t_h]',
    '[auth-]',
    '[auth:x]',
    '[auth/x]',
    '[auth "x"]',
    '[aUTH ]',
    '["auth"]',
    "['auth']",
    '[" auth "]',
    '[auth .x]',
    '["auth.x"]',
    '[auth\\.x]',
    '[Tenants]',
    '["tenants"]',
    '[tenants.ids]',
  ]) {
    test(`${line} is almost ours, and refused, beside ours too`, () => {
      const message = 'a section: expected [auth], [auth.NAME] or [tenants], found ['
      refuses(`${line}\n`, message, 'line 1', 'did you mean [')
      refuses(`[auth]\n[tenants]\n${line}\n`, message, 'line 3')
    })
  }

  for (const [what, line, shown] of [
    ['a zero width space', '[au\u200bth]', '[au\\u200bth]'],
    ['a zero width space at its end', '[auth\u200b]', '[auth\\u200b]'],
    ['a soft hyphen', '[auth\u00ad]', '[auth\\u00ad]'],
    ['a byte order mark', '[\ufeffauth]', '[\\ufeffauth]'],
    ['a no-break space', '[\u00a0auth]', '[\\u00a0auth]'],
    ['a variation selector', '[auth\ufe0f]', '[auth\\ufe0f]'],
    ['a letter that nobody sees', '[auth\u3164]', '[auth\\u3164]'],
    ['a mark over a letter', '[a\u0301uth]', '[a\\u0301uth]'],
    ['full-width letters', '[\uff41\uff55\uff54\uff48]', '[\\uff41\\uff55\\uff54\\uff48]'],
    ['letters of mathematics', '[\u{1d41a}uth]', '[\\ud835\\udc1auth]'],
    ['a Cyrillic letter', '[\u0430uth]', '[\\u0430uth]'],
    ['letters of several alphabets', '[\u0430\u057dth]', '[\\u0430\\u057dth]'],
    ['small capitals', '[\u1d00\u1d1c\u1d1b\u029c]', '[\\u1d00\\u1d1c\\u1d1b\\u029c]'],
    ['a Cyrillic letter in the other word', '[t\u0435nants]', '[t\\u0435nants]'],
  ] as const) {
    test(`with ${what} is refused, and shown by its numbers`, () => {
      refuses(`[app]\n${line}\n`, `found ${shown} (`, 'line 2', 'did you mean [')
      refuses(`[auth]\n[tenants]\n${line}\n`, `found ${shown} (`, 'line 3')
    })
  }

  for (const line of ['[\u0431\u0430\u0437\u0430]', '[\u8a8d\u8a3c\u8a2d\u5b9a]', '[caf\u00e9]']) {
    test(`${line} is a word of another language`, () => {
      assert.deepEqual(read(`[auth]\n${line}\nrealm = b\n`), [])
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
    'auth]',
    '  Tenants]',
    'auht]',
    'auth] ; ours',
    '(auth)',
    '{auth}',
    '\u200b[auth]',
    '\ufeff[auth]',
    '\u00a0[auth]',
    '[auth]\u00a0',
    '\uff3bauth\uff3d',
    '\u3010auth\u3011',
    '[app]\u2028[auth]',
  ]) {
    test(`${JSON.stringify(line)} is broken, and refused`, () => {
      const message = 'a section: expected [name], found a broken section line'
      refuses(`[app]\n${line}\n`, message, 'line 2')
      refuses(`[tenants]\nids = a\n${line}\n`, message, 'line 3')
    })
  }

  for (const section of ['[auth]', '[tenants]']) {
    test(`a second ${section} is refused: next to the first, after others, or spelt with spaces`, () => {
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
        `${key}: expected a section [auth], [auth.NAME] or [tenants], found a top-level key`,
        'line 2',
      )
    })
  }
})

describe('a line with a line separator of Unicode in it', () => {
  /** VT, FF, NEL, LS and PS. In each row they stand in place of `|`. */
  const SEPARATORS = ['\v', '\f', '\u0085', '\u2028', '\u2029']

  for (const row of [
    '; comment|issuer = x',
    '# comment|',
    'issuer = x|audience = y',
    'issuer = x|',
    '|issuer = x',
    'issuer|= x',
    'issuer = "x|y"',
    'issuer = x ; comment|audience = y',
    'a ; = b|c',
    'issuer|',
    '|',
  ]) {
    test(`is refused in our sections and above all sections: ${row}`, () => {
      const expected = 'a line: expected lines that end with LF or CR LF'
      const message = `${expected}, found another line separator within one`
      for (const separator of SEPARATORS) {
        const text = row.replace('|', separator)
        refuses(`[auth]\n${text}\n`, message, 'line 2')
        refuses(`[app]\n[tenants]\n${text}\n`, message, 'line 3')
        refuses(`${text}\n[auth]\n`, message, 'line 1')
      }
    })
  }

  for (const row of [
    '[auth]|issuer = x',
    '|[auth]',
    '[auth] ; comment|issuer = x',
    '[auth|]',
    '[app]|',
    '; comment|[auth]',
    'title = x|[tenants]|ids = a',
    'title = x|auth]',
  ]) {
    test(`is a broken section: ${row}`, () => {
      const message = 'a section: expected [name], found a broken section line'
      for (const separator of SEPARATORS) {
        const text = row.replaceAll('|', separator)
        refuses(`[auth]\n[app]\n${text}\n`, message, 'line 3')
        refuses(`${text}\n[tenants]\n`, message, 'line 1')
      }
    })
  }

  test('may stand in another section, if no section is lost', () => {
    for (const separator of SEPARATORS) {
      const lines = ['; a|b', 'title = x|auth = y', '|'].join('\n').replaceAll('|', separator)
      assert.deepEqual(read(`[app]\n${lines}\n[auth]\n`), [])
    }
  })
})

describe('a key', () => {
  for (const line of ['dev_mode', 'dev_mode yes', 'dev_mode: yes', '= yes', '==']) {
    test(`${JSON.stringify(line)} without a value is refused`, () => {
      refuses(`[auth]\n${line}\n`, `${line}: expected key = value, found no value`, 'line 2')
    })
  }

  test('is refused a second time, anywhere in its section and with any value', () => {
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

  test('keeps brackets, dots, quotes and case, so that the table of keys can refuse it', () => {
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
    test(`${JSON.stringify(text)} has text glued to it, and is refused`, () => {
      refuses(
        `[auth]\nrealm = ${text}\n`,
        'realm: expected white space before a comment, or quotes around the value, found ; or #',
        ' glued to it in "',
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
    test(`${text} has only one quote, and is refused`, () => {
      const shown = JSON.stringify(text)
      refuses(`[auth]\nrealm = ${text}\n`, 'realm: expected ', 'quotes', shown, 'line 2')
    })
  }

  for (const text of ['"a"; b', "'a'#b"]) {
    test(`${text} has a comment glued to its quotes, and is refused`, () => {
      refuses(`[auth]\nrealm = ${text}\n`, 'realm: expected white space before a comment', 'line 2')
    })
  }
})
