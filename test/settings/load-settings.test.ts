import assert from 'node:assert/strict'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { loadSettings } from '../../lib/settings/load-settings.ts'
import { configError } from '../helpers/config-error.ts'
import { OPTION_TABLE } from '../helpers/option-table.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { untyped } from '../helpers/untyped-options.ts'

const folder = tempFolder()

const load = (options: object) => loadSettings(untyped(options))
const loadIni = (text: string) => load({ configFile: folder.write(text) })

describe('who gives an option', () => {
  test('file and code are put together, option by option', () => {
    const configFile = folder.write('[auth]\nrealm = notes\nissuer = a\n[tenants]\nids = a b\n')
    const { settings, given } = load({ configFile, issuer: 'b', keysRetry: 2 })
    assert.equal(settings.realm, 'notes')
    assert.equal(settings.issuer, 'b')
    assert.equal(settings.keysRetry, 2)
    assert.deepEqual(settings.tenants, ['a', 'b'])
    assert.deepEqual([...given].toSorted(), ['issuer', 'keysRetry', 'realm', 'tenants'])
  })

  test('a default that is spelt out counts as given', () => {
    const { given } = load({ publicKeysUrl: load({}).settings.publicKeysUrl })
    assert.deepEqual([...given], ['publicKeysUrl'])
  })

  test('a bad value in the file is refused even where code gives a good one', () => {
    const configFile = folder.write('[auth]\nrealm = é\n')
    assert.throws(() => load({ configFile, realm: 'notes' }), configError('realm: ', 'line 2'))
  })

  test('what is inherited, such as from a polluted prototype, is not given', () => {
    const { settings, given } = loadSettings(Object.create({ devMode: true, nonsense: 1 }))
    assert.equal(settings.devMode, false)
    assert.equal(given.size, 0)
  })

  test('settings and their lists are frozen, and are copies', () => {
    const issuer = ['a']
    const { settings } = load({ issuer })
    issuer.push('b')
    assert.deepEqual(settings.issuer, ['a'])
    assert.ok(Object.isFrozen(settings))
    assert.ok(Object.isFrozen(settings.issuer))
    assert.ok(Object.isFrozen(load({}).settings.algorithms))
  })

  test('a default list of one service is not that of another', () => {
    assert.notEqual(load({}).settings.algorithms, load({}).settings.algorithms)
  })
})

describe('misspelt names', () => {
  const inCode = ['issuers', 'dev_mode', 'Issuer', 'toString', '__proto__', 'constructor', '0', '']
  for (const name of inCode) {
    test(`refuses the option ${JSON.stringify(name)}`, () => {
      const options = JSON.parse(`{ ${JSON.stringify(name)}: 1 }`)
      assert.throws(
        () => loadSettings(options),
        configError(`${name}: expected one of publicKeysUrl, `, 'configFile', '(option)'),
      )
    })
  }

  test('an unknown option is refused even when it is undefined', () => {
    assert.throws(() => load({ isuer: undefined }), configError('isuer: expected one of'))
  })

  const inFile = [
    'devmode',
    'dev-mode',
    'devMode',
    'DEV_MODE',
    'issuer[]',
    'auth.issuer',
    '"issuer"',
    '__proto__',
    'constructor',
    'tenants',
    'ids',
    'tenant_url',
    'config_file',
    ...['public_keys', 'map_claims', 'is_revoked', 'resolve_tenant', 'token_from'],
  ]
  for (const key of inFile) {
    test(`refuses the key ${key} of [auth]`, () => {
      const configFile = folder.write(`[auth]\nrealm = x\n${key} = yes\n`)
      assert.throws(
        () => load({ configFile }),
        configError(
          `${key}: expected one of public_keys_url, `,
          `found ${JSON.stringify(key)}`,
          `${configFile}, line 3`,
        ),
      )
    })
  }

  for (const key of [
    'id',
    'ids[]',
    'IDS',
    'url',
    'tenants',
    'realm',
    'tenants_timeout',
    '__proto__',
  ]) {
    test(`refuses the key ${key} of [tenants]`, () => {
      assert.throws(
        () => loadIni(`[tenants]\n${key} = a\n`),
        configError(`${key}: expected one of ids, tenant_url, found `, 'line 2'),
      )
    })
  }

  test('the INI keys are the snake_case of the option names', () => {
    for (const { option, key } of OPTION_TABLE) {
      if (key === undefined) continue
      assert.equal(
        key.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
        option,
      )
    }
  })
})

describe('the section [tenants]', () => {
  test('takes a list of ids', () => {
    assert.deepEqual(loadIni('[tenants]\nids = a, b  c\n').settings.tenants, ['a', 'b', 'c'])
  })

  test('takes an URL, whole', () => {
    const url = 'https://a.test/tenants?x=1,2'
    assert.equal(loadIni(`[tenants]\ntenant_url = ${url}\n`).settings.tenants, url)
  })

  for (const [key, text] of [
    ['ids', ''],
    ['ids', ','],
    ['ids', '*'],
    ['ids', `a ${'x'.repeat(256)}`],
    ['tenant_url', ''],
    ['tenant_url', 'ftp://a.test/'],
    ['tenant_url', 'a b'],
    ['tenant_url', 'https://user:secret@a.test/'],
  ]) {
    test(`refuses ${key} = ${text}`.slice(0, 60), () => {
      const message = `${key}: expected a list of tenant names, an http or https URL`
      assert.throws(() => loadIni(`[tenants]\n${key} = ${text}\n`), configError(message, 'line 2'))
    })
  }

  for (const keys of [
    ['ids', 'tenant_url'],
    ['tenant_url', 'ids'],
  ]) {
    test(`refuses ${keys.join(' before ')}`, () => {
      const lines = keys.map((key) => `${key} = https://a.test`).join('\n')
      assert.throws(
        () => loadIni(`[tenants]\n${lines}\n`),
        configError(`${keys[1]}: expected ${keys[0]} or ${keys[1]}, found "both"`, 'line 3'),
      )
    })
  }
})

describe('the configFile option', () => {
  for (const [value, found] of [
    [null, 'null'],
    ['', '""'],
    [7, '7'],
    [{}, 'an object'],
    [new URL('file:///app.ini'), 'an object'],
  ] as const) {
    test(`is no ${found}`, () => {
      const message = `configFile: expected a path, found ${found} (option)`
      assert.throws(() => load({ configFile: value }), configError(message))
    })
  }

  test('is not given when undefined', () => {
    assert.deepEqual(load({ configFile: undefined }), load({}))
  })

  test('counts from the working directory', () => {
    const configFile = relative(process.cwd(), folder.write('[auth]\nrealm = notes\n'))
    assert.equal(load({ configFile }).settings.realm, 'notes')
  })
})

describe('a relative devUserInfoPath', () => {
  test('counts from the folder of the INI file that names it', () => {
    const configFile = folder.write('[auth]\ndev_user_info_path = users/me.json\n')
    assert.equal(load({ configFile }).settings.devUserInfoPath, join(folder.path, 'users/me.json'))
  })

  test('counts from there too where the INI file is itself named by a relative path', () => {
    const configFile = relative(
      process.cwd(),
      folder.write('[auth]\ndev_user_info_path = ../me.json\n'),
    )
    const { devUserInfoPath } = load({ configFile }).settings
    assert.equal(devUserInfoPath, join(dirname(folder.path), 'me.json'))
  })

  test('counts from the working directory where code gives it', () => {
    const configFile = folder.write('[auth]\ndev_user_info_path = users/me.json\n')
    const { settings } = load({ configFile, devUserInfoPath: 'mine.json' })
    assert.equal(resolve(settings.devUserInfoPath), join(process.cwd(), 'mine.json'))
  })
})

describe('dev mode where NODE_ENV is production', () => {
  const inProduction = (t: { after(undo: () => void): void }): void => {
    const before = process.env['NODE_ENV']
    process.env['NODE_ENV'] = 'production'
    t.after(() => {
      if (before === undefined) delete process.env['NODE_ENV']
      else process.env['NODE_ENV'] = before
    })
  }

  test('is refused in code', (t) => {
    inProduction(t)
    assert.throws(
      () => load({ devMode: true }),
      configError(
        'devMode: expected no dev mode where NODE_ENV is production, found true (option)',
      ),
    )
  })

  test('is refused in an INI file', (t) => {
    inProduction(t)
    assert.throws(() => loadIni('[auth]\ndev_mode = yes\n'), configError('dev_mode: ', 'line 2'))
  })

  test('is no matter where code turns off what the INI file turns on', (t) => {
    inProduction(t)
    const configFile = folder.write('[auth]\ndev_mode = yes\n')
    assert.equal(load({ configFile, devMode: false }).settings.devMode, false)
  })

  test('is no matter where dev mode is off', (t) => {
    inProduction(t)
    assert.equal(load({}).settings.devMode, false)
  })
})

describe('a bad value in a message', () => {
  test('is cut when it is long', () => {
    assert.throws(
      () => load({ issuer: new Array(1000).fill(1) }),
      (error: Error) => error.message.length < 200,
    )
  })

  const circular: unknown[] = []
  circular.push(circular)
  for (const [name, value] of [
    ['a list with a bigint', [1n]],
    ['a list that holds itself', circular],
    ['a symbol', Symbol('a')],
    ['an object without a prototype', Object.create(null)],
  ] as const) {
    test(`can be ${name}`, () => {
      assert.throws(
        () => load({ issuer: value }),
        configError('issuer: expected a string or a list'),
      )
    })
  }
})
