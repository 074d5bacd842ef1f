import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type IniEntry, type IniSection, readIniFile } from '../../lib/config/ini-file.ts'
import { Problems } from '../../lib/config/problems.ts'
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
  return entriesOf(folder.write(text)).map(({ key, text }) => [key, text])
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
      { kind: 'entry', section: 'auth', key: 'realm', text: 'a', where: at(2) },
      { kind: 'section', section: 'tenants', where: at(4) },
      { kind: 'section', section: 'auth.acme', where: at(7) },
      { kind: 'entry', section: 'auth.acme', key: 'issuer', text: 'b', where: at(8) },
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
        /^configFile: expected a section \[auth\], \[auth\.NAME\], \[tenants\] or \[implies\], found none \(/,
      )
    })
  }

  test('shows all its problems, line by line, each of them once', () => {
    const file = folder.write(
      'auth = 1\n[aut]\nx = 1\n[Auth]\n[tenants]\nids = a\nids\nids = b\n[tenants]\n',
    )
    assert.throws(
      () => entriesOf(file),
      (error: Error) => {
        const reported = error.message.split('\n').map((line) => /line \d+/.exec(line)?.[0])
        assert.deepEqual(
          reported,
          [1, 2, 4, 7, 8, 9].map((line) => `line ${line}`),
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
    assert.throws(
      () => entriesOf(folder.path),
      configError('configFile: ', folder.path, '(EISDIR)'),
    )
  })

  test('must be readable', { skip: process.getuid?.() === 0 && 'root reads everything' }, () => {
    const file = folder.write('[auth]\n')
    chmodSync(file, 0)
    assert.throws(() => entriesOf(file), configError('configFile: ', file, '(EACCES)'))
  })

  for (const [name, bytes] of [
    ['Latin-1', Buffer.from('[auth]\nrealm = caf\xe9\n', 'latin1')],
    ['UTF-16', Buffer.from('\ufeff[auth]\ndev_mode = yes\n', 'utf16le')],
    ['a cut character', Buffer.from('[auth]\nrealm = é').subarray(0, -1)],
    ['an overlong form', Buffer.from([...Buffer.from('[auth]\nrealm = '), 0xc0, 0xaf])],
  ] as const) {
    test(`must be UTF-8, not ${name}`, () =>
      refuses(bytes, 'configFile: expected', 'UTF-8', 'cannot be read (ERR_ENCODING_'))
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
    '[auth_acme]',
    '[authority of ours]',
    '[app auth]',
    '[auth acme]',
    '[auth "acme"]',
    '["auth"]',
    '[auth:acme]',
    '[auht]',
    '[a_u_t_h]',
    '[oauth]',
    '[OAuth]',
    '[oauth.github]',
    '[tenants.ids]',
    '[tenatns]',
    '[\uff41\uff55\uff54\uff48]',
    '[\u0430\u057dth]',
    '[\u8a8d\u8a3c\u8a2d\u5b9a]',
    '[caf\u00e9]',
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
    '[Auth.acme]',
    '[AUTH.ACME]',
    '[auth..acme\u200b]',
    '[auth.acm\u00e9]',
    '[\u0430uth.acme]',
    '[auto.acme]',
    '[aut.acme]',
    '[auths.acme]',
    `[auth.${'N'.repeat(65)}]`,
  ]) {
    test(`${JSON.stringify(line)} is nearly that of an issuer, and refused`.slice(0, 80), () => {
      const message = 'a section: expected [auth], [auth.NAME], [tenants] or [implies], found ['
      refuses(`[auth]\n[auth.acme]\n${line}\n`, message, 'line 3', 'did you mean [auth.NAME]?')
    })
  }

  for (const [line, meant, shown = line] of [
    ['[Auth]', 'auth'],
    ['[AUTH]', 'auth'],
    ['[aUTH ]', 'auth', '[aUTH]'],
    ['[authn]', 'auth'],
    ['[auto]', 'auth'],
    ['[auth0]', 'auth'],
    ['[aut]', 'auth'],
    ['[uth]', 'auth'],
    ['[au th]', 'auth'],
    ['[auth-]', 'auth'],
    ['[Tenants]', 'tenants'],
    ['[tenant]', 'tenants'],
    ['[TENANT]', 'tenants'],
    ['[tenantss]', 'tenants'],
    ['[au\u200bth]', 'auth', '[au\\u200bth]'],
    ['[auth\u200b]', 'auth', '[auth\\u200b]'],
    ['[\u00a0auth]', 'auth', '[\\u00a0auth]'],
    ['[\u0430uth]', 'auth', '[\\u0430uth]'],
    ['[t\u0435nants]', 'tenants', '[t\\u0435nants]'],
  ] as const) {
    test(`${shown} differs from [${meant}] by case or one letter, and is refused beside it`, () => {
      const message = `a section: expected [auth], [auth.NAME], [tenants] or [implies], found ${shown} (`
      refuses(`${line}\n`, message, 'line 1', `did you mean [${meant}]?`)
      refuses(`[auth]\n[tenants]\n${line}\n`, message, 'line 3')
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
    'auth] ; ours',
    '\u200b[auth]',
    '\ufeff[auth]',
    '\u00a0[auth]',
    '[auth]\u00a0',
    '[app]\u2028[auth]',
  ]) {
    // A line of TAP, which Stryker reads, must not be broken by the name of a test.
    const shown = JSON.stringify(line).replace('\u2028', '\\u2028')
    test(`${shown} is broken, and refused`, () => {
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
        `${key}: expected a section [auth], [auth.NAME], [tenants] or [implies], found a top-level key`,
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
  for (const [line, shown] of [
    ['dev_mode', 'dev_mode'],
    ['  dev_mode yes', 'dev_mode'],
    ['dev_mode: yes', 'dev_mode'],
    ['client_secret: aHVudGVyMg==', 'client_secret'],
    ['client_secret:hunter2', 'client_secret'],
    ['client_secret:aHVudGVyMg==', 'client_secret'],
    ['iDpLZr5hw9kKO1aA+aHVudGVyMg==', 'a line'],
    ['aHVudGVyMmh1bnRlcjI=', 'a line'],
    ['MC4CAQAwBQYDK2VwBCIEIA+hunter2', 'a line'],
    ['"d": "hunter2"', 'a line'],
    ['hunter2', 'a line'],
    ['= yes', 'a line'],
    ['==', 'a line'],
  ] as const) {
    test(`${JSON.stringify(line)} without a value is refused, and not shown`, () => {
      const message = new RegExp(`^${shown}: expected key = value, found no value \\([^\\n]*\\)$`)
      refuses(`[auth]\n${line}\n`, message, 'line 2')
    })
  }

  test('may have an empty value, which its option refuses', () => {
    assert.deepEqual(read('[auth]\nrealm=\npublicKeys =\nREALM==\n[implies]\nmenu:edit =\n'), [
      ['realm', ''],
      ['publicKeys', ''],
      ['REALM', '='],
      ['menu:edit', ''],
    ])
  })

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
