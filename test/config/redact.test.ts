import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadSettings } from '../../lib/config/load-settings.ts'
import { showHidden, showName, showPath, showReason, showValue } from '../../lib/config/redact.ts'
import { configError } from '../helpers/app/config-error.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const folder = tempFolder()

describe('a value in a message', () => {
  const circular: unknown[] = []
  circular.push(circular)
  for (const [value, shown] of [
    ['a', '"a"'],
    ['say "a"\n', '"say \\"a\\"\\n"'],
    [7, '7'],
    [5n, '5'],
    [null, 'null'],
    [undefined, 'undefined'],
    [Symbol('a'), 'Symbol(a)'],
    [{}, 'an object'],
    [Object.create(null), 'an object'],
    [() => 1, 'a function'],
    [['a', 1n, [], {}, undefined], '["a", 1, a list, an object, undefined]'],
    [circular, '[a list]'],
    [new Array(2), '[undefined, undefined]'],
    ['añ√日本🦝', '"añ√日本🦝"'],
    [
      'a\u200b\u00ad\ufeff\u00a0\u202e\u2028\u007f',
      '"a\\u200b\\u00ad\\ufeff\\u00a0\\u202e\\u2028\\u007f"',
    ],
    ['\u001b[31m', '"\\u001b[31m"'],
    ['\ud800', '"\\ud800"'],
  ] as const) {
    test(`is shown as ${shown}`, () => assert.equal(showValue(value), shown))
  }

  test('is cut after 80 characters', () => {
    assert.equal(showValue('x'.repeat(78)), `"${'x'.repeat(78)}"`)
    assert.equal(showValue('x'.repeat(79)), `"${'x'.repeat(79)}…`)
    assert.equal(showValue('x'.repeat(1e6)), `"${'x'.repeat(79)}…`)
    assert.equal(showValue(new Array(1e9)), `[${'undefined, '.repeat(8).slice(0, 79)}…`)
    assert.equal(showName('x'.repeat(81)), `${'x'.repeat(80)}…`)
  })

  test('is not cut within a character', () => {
    assert.equal(showValue(`${'x'.repeat(78)}🦝`), `"${'x'.repeat(78)}…`)
  })
})

/** Texts that hold a secret, and what is shown of them. */
const SECRETS = [
  ['https://user:hunter2@a.test/', 'https://***@a.test/'],
  ['https://hunter2@a.test/', 'https://***@a.test/'],
  ['https://user:hun/ter2@a.test/keys', 'https://***@a.test/keys'],
  ['https://user:hun@ter2@a.test/', 'https://***@a.test/'],
  ['https://user:hun ter2@a.test/', 'https://***@a.test/'],
  ['https://user:hun?ter2@a.test/', 'https://***'],
  ['https://user:hun#ter2@a.test/', 'https://***'],
  ['https://user:hunter2%40a.test/', 'https://***@a.test/'],
  ['https://user:hunter2\uff20a.test/', 'https://***@a.test/'],
  ['https:/user:hunter2@a.test/', 'https:/***@a.test/'],
  ['https:\\\\user:hunter2@a.test/', 'https:\\\\***@a.test/'],
  [' https://user:hunter2@a.test/', ' https://***@a.test/'],
  ['postgres://user:hunter2@db', 'postgres://***@db'],
  ['user:hunter2@a.test', 'user:***@a.test'],
  ['//user:hunter2@a.test', '***@a.test'],
  [`https://user:${'hunter2'.repeat(100)}@a.test/`, 'https://***@a.test/'],
  ['ftp://a.test/?token=hunter2', 'ftp://a.test/?***'],
  ['ftp://a.test/?mail=me@a.test&token=hunter2', 'ftp://***'],
  ['ftp://u:p@a.test/?token=hunter2', 'ftp://***@a.test/?***'],
  ['/keys?hunter2', '/keys?***'],
  ['ftp://a.test/#access_token=hunter2', 'ftp://a.test/#***'],
  ['eyJhbGciOiJub25lIn0.eyJodW50ZXIyIjoxfQ.hunter2', 'eyJ***'],
  ['{"kty":"oct","k":"hunter2"}', '{***'],
  ["[{ kty: 'EC', d: 'hunter2' }]", '[{***'],
  ['-----BEGIN PRIVATE KEY-----\nhunter2', '-----BEGIN***'],
] as const

describe('a secret in a message', () => {
  for (const [text, shown] of SECRETS) {
    test(`is not shown: ${shown}`, () => {
      assert.equal(showValue(text), JSON.stringify(shown))
      assert.equal(showValue([text, 'a']), `[${JSON.stringify(shown)}, ***]`)
      assert.doesNotMatch(showValue(Symbol(text)), /ter2/)
    })

    test(`reaches no boot error from code or an INI file: ${shown}`, () => {
      const line = text.replaceAll('\n', ' ')
      for (const ini of [
        `[auth]\npublic_keys_url = ftp:${line}\n`,
        `[auth]\npublic_keys_url ${line}\n`,
        `[auth]\n${line} = x\n`,
        `[auth]\nrealm = é${line}\n`,
        `[auth]\nrealm = "${line}\n`,
        `[auth]\nrealm = x;${line}\n`,
        `[auth]\nnonsense = ${line}\n`,
        `[auth]\nalgorithms = ${line}\n`,
        `[tenants]\ntenant_url = ftp:${line}\n`,
        `[tenants]\nids = ${line} *\n`,
        `[auth."${line}"]\n`,
      ]) {
        expectNoSecret({ configFile: folder.write(ini) })
      }
      for (const option of ['publicKeysUrl', 'tenants', 'publicKeys', 'keysTimeout', 'nonsense']) {
        expectNoSecret({ [option]: `ftp:${text}` })
        expectNoSecret({ [option]: [`ftp:${text}`, ''] })
      }
      expectNoSecret({ [text]: 1 })
    })
  }

  test('is not shown if the path of a file is an address', () => {
    const path = 'https://user:hunter2@a.test/app.ini'
    expectNoSecret({ configFile: path })
    expectNoSecret({ devMode: true, devUserInfoPath: path })
    assert.equal(showPath('C:\\me@home\\app.ini'), 'C:\\me@home\\app.ini')
    assert.equal(showPath('/srv/app@2/app.ini'), '/srv/app@2/app.ini')
  })

  for (const name of ['client_secret', 'password', 'privateKey']) {
    test(`is not shown if the option is unlike ours: ${name}`, () => {
      const seen = () => loadSettings(Object.fromEntries([[name, 'hunter2']]))
      assert.throws(seen, configError(`${name}: expected one of `, `found "${name}" (option)`))
    })
  }

  test('is not shown from a reason that another part gives', () => {
    const reason = 'its jwks_uri is https://user:hunter2@a.test/keys'
    assert.equal(showReason(reason), 'its jwks_uri is https://***@a.test/keys')
  })
})

function expectNoSecret(options: object): void {
  assert.throws(
    () => loadSettings(options),
    (error: Error) => {
      assert.doesNotMatch(error.message, /hun.?ter2|ter2/)
      configError()(error)
      return true
    },
  )
}

test('a name in a message shows each character beyond ASCII by its number', () => {
  assert.equal(showName('\u0430uth\u200b'), '\\u0430uth\\u200b')
  assert.equal(showName('\u{1f99d}'), '\\ud83e\\udd9d')
})

describe('a value that may be a secret', () => {
  for (const [value, shown] of [
    [5, 'a number'],
    [5n, 'a number'],
    ['abc', 'a text of 3 characters'],
    ['', '""'],
    [null, 'null'],
    [['abc'], 'a list'],
  ] as const) {
    test(`${typeof value} ${value}: ${shown}`, () => {
      assert.equal(showHidden(value), shown)
    })
  }
})

test('a name that is cut keeps no half of a pair, and the pairs before it', () => {
  const shown = showValue(`🦝${'a'.repeat(75)}🦝🦝`)
  assert.equal(shown, `"🦝${'a'.repeat(75)}🦝…`)
  assert.equal(showValue(`🦝${'a'.repeat(76)}🦝🦝`), `"🦝${'a'.repeat(76)}…`)
})
