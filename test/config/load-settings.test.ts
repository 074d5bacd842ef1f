import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { loadMockUser, loadSettings } from '../../lib/config/load-settings.ts'
import { Options } from '../../lib/config/options.ts'
import { Problems } from '../../lib/config/problems.ts'
import tenantAuth, { AuthService, type UserInfo } from '../../lib/index.ts'
import { configError } from '../helpers/app/config-error.ts'
import { authority, bareApp } from '../helpers/app/guarded-app.ts'
import { OPTION_TABLE } from '../helpers/app/option-table.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const folder = tempFolder()

const load = (options: object) => loadSettings(options)
const SECRET = 'correct-horse-battery-dora'
const GO = 'opaqueToken: sharedSecret(…) of fastify-tenant-auth/introspection'
const loadIni = (text: string) => load({ configFile: folder.write(text) })

/** Options stop the boot with these parts in the message. */
const stops = (options: object, ...parts: (string | RegExp)[]) =>
  assert.throws(() => load(options), configError(...parts))

describe('who gives an option', () => {
  test('file and code are put together, option by option', () => {
    const configFile = folder.write('[auth]\nrealm = notes\naudience = a\n[tenants]\nids = a b\n')
    const { settings, given } = load({ configFile, audience: 'b', keysRetry: 2 })
    assert.equal(settings.realm, 'notes')
    assert.equal(settings.audience, 'b')
    assert.equal(settings.keysRetry, 2)
    assert.deepEqual(settings.tenants, ['a', 'b'])
    assert.deepEqual([...given].toSorted(), ['audience', 'keysRetry', 'realm', 'tenants'])
  })

  test('a default that is written out counts as given', () => {
    const { given } = load({ publicKeysUrl: load({}).settings.publicKeysUrl })
    assert.deepEqual([...given], ['publicKeysUrl'])
  })

  test('a bad value in the file is refused even if code gives a good one', () => {
    const configFile = folder.write('[auth]\nrealm = é\n')
    stops({ configFile, realm: 'notes' }, 'realm: ', 'line 2')
    const empty = folder.write('[implies]\nmenu:edit =\n')
    stops(
      { configFile: empty, implies: { 'menu:edit': ['menu:read'] } },
      'menu:edit: expected a resource id',
      'found [] (',
      'line 2',
    )
  })

  class Config {
    readonly realm = 'x'
    get issuer() {
      return 'https://a.test'
    }
  }

  for (const [what, options] of [
    ['an instance of a class', new Config()],
    ['an object that inherits', Object.create({ realm: 'x' })],
    ['an object that inherits from one without a prototype', Object.create(Object.create(null))],
    ['a Map', new Map([['realm', 'x']])],
    ['a date', new Date()],
  ] as const) {
    const message = 'expected a plain object, found one of a class, or one that inherits members'
    test(`${what} is refused`, () => {
      assert.throws(() => loadSettings(options), configError(`options: ${message} (option)`))
      assert.throws(() => new AuthService(options), configError(message))
      const seen = () => loadSettings({ issuers: [options] })
      assert.throws(seen, configError(`issuers[0]: ${message} (option)`))
    })

    test(`${what} is refused by the plugin, too`, async (t) => {
      const app = bareApp(t)
      await assert.rejects(async () => app.register(tenantAuth, options), configError(message))
    })
  }

  for (const [what, options] of [
    ['without a prototype', Object.assign(Object.create(null), { realm: 'x' })],
    ['of another realm', runInNewContext("({ realm: 'x' })")],
    ['that is frozen', Object.freeze({ realm: 'x' })],
  ] as const) {
    test(`a plain object ${what} is read`, () => {
      assert.equal(loadSettings(options).settings.realm, 'x')
    })
  }

  for (const [what, property] of [
    ['a getter', { get: () => 'x', enumerable: true }],
    ['a setter', { set: () => undefined, enumerable: true }],
    ['hidden', { value: 'x' }],
  ] as const) {
    test(`an option that is ${what} is refused`, () => {
      const options = Object.defineProperty({}, 'realm', property)
      const message = 'realm: expected a plain member, found a getter, or one that is not enum'
      assert.throws(() => loadSettings(options), configError(message))
    })
  }

  test('a member added to the prototype of all objects is not given, not even configFile', (t) => {
    const values = { configFile: folder.write('[auth]\nrealm = x\n'), realm: 'y' }
    t.after(() => {
      for (const name of Object.keys(values)) Reflect.deleteProperty(Object.prototype, name)
    })
    for (const [name, value] of Object.entries(values)) {
      Object.defineProperty(Object.prototype, name, { value, configurable: true })
    }
    const { settings, given } = loadSettings({})
    assert.equal(settings.realm, 'api')
    assert.equal(given.size, 0)
  })

  for (const [options, found] of [
    [null, 'null'],
    ['app.ini', 'a text of 7 characters'],
    [[], 'a list'],
    [() => ({}), 'a function'],
  ] as const) {
    test(`options cannot be ${found}`, () => {
      const message = `options: expected an object, found ${found} (option)`
      assert.throws(() => Reflect.apply(loadSettings, null, [options]), configError(message))
    })
  }

  test('settings and their lists are frozen, and are copies', () => {
    const audience = ['a']
    const { settings } = load({ audience })
    audience.push('b')
    assert.deepEqual(settings.audience, ['a'])
    assert.equal(Object.isFrozen(settings), true)
    assert.equal(Object.isFrozen(settings.audience), true)
    assert.equal(Object.isFrozen(load({}).settings.algorithms), true)
  })

  test('each service has its own default list', () => {
    assert.notEqual(load({}).settings.algorithms, load({}).settings.algorithms)
  })
})

describe('misspelt names', () => {
  const inCode = ['isuers', 'dev_mode', 'Issuer', 'toString', '__proto__', 'constructor', '0', '']
  for (const name of inCode) {
    test(`refuses the option ${JSON.stringify(name)}`, () => {
      const options = JSON.parse(`{ ${JSON.stringify(name)}: 1 }`)
      assert.throws(
        () => loadSettings(options),
        configError(
          new RegExp(
            `^${name}: expected (?:\\w+|one of publicKeysUrl, .*configFile), found .* \\(option`,
          ),
        ),
      )
    })
  }

  test('an unknown option is refused even if it is undefined', () => {
    stops({ isuer: undefined }, 'isuer: expected issuer, found "isuer"')
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
    ...['issuers', 'allow_private_issuers', 'opaque_token'],
  ]
  for (const key of inFile) {
    test(`refuses the key ${key} of [auth]`, () => {
      const configFile = folder.write(`[auth]\nrealm = x\n${key} = yes\n`)
      stops(
        { configFile },
        `${key}: expected `,
        /: expected (?:\w+|one of public_keys_url, .*|it in code|.* [[]\w+(?:\.NAME)?\].*), found "/,
        `${configFile}, line 3`,
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
      const seen = () => loadIni(`[tenants]\n${key} = a\n`)
      assert.throws(
        seen,
        configError(`${key}: expected `, /ids|tenant_url|it in \[auth\]/, ', found "', 'line 2'),
      )
    })
  }

  test('the INI keys are the snake_case of the option names', () => {
    for (const { option, key } of OPTION_TABLE) {
      if (key === undefined) continue
      const seen = key.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
      assert.equal(seen, option)
    }
  })
})

describe('the section [tenants]', () => {
  test('takes a list of ids', () => {
    assert.deepEqual(loadIni('[tenants]\nids = a, b  c\n').settings.tenants, ['a', 'b', 'c'])
  })

  test('takes a URL, whole', () => {
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
        configError(`${keys[1]}: expected ${keys[0]} or ${keys[1]}, found both`, 'line 3'),
      )
    })
  }
})

describe('the configFile option', () => {
  for (const [value, found] of [
    [null, 'null'],
    [undefined, 'undefined'],
    ['', '""'],
    [7, '7'],
    [{}, 'an object'],
    [new URL('file:///app.ini'), 'an object'],
  ] as const) {
    test(`cannot be ${found}`, () => {
      const message = `configFile: expected a path, found ${found} (option)`
      stops({ configFile: value }, message)
    })
  }

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

  test('counts from there even if the INI file is named by a relative path', () => {
    const configFile = relative(
      process.cwd(),
      folder.write('[auth]\ndev_user_info_path = ../me.json\n'),
    )
    const { devUserInfoPath } = load({ configFile }).settings
    assert.equal(devUserInfoPath, join(dirname(folder.path), 'me.json'))
  })

  test('counts from the working directory if code gives it', () => {
    const configFile = folder.write('[auth]\ndev_user_info_path = users/me.json\n')
    const { settings } = load({ configFile, devUserInfoPath: 'mine.json' })
    assert.equal(resolve(settings.devUserInfoPath), join(process.cwd(), 'mine.json'))
  })
})

describe('dev mode if NODE_ENV is production', () => {
  const inProduction = (t: { after(undo: () => void): void }, value = 'production'): void => {
    const before = process.env['NODE_ENV']
    process.env['NODE_ENV'] = value
    t.after(() => {
      if (before === undefined) delete process.env['NODE_ENV']
      else process.env['NODE_ENV'] = before
    })
  }

  test('is refused in code', (t) => {
    inProduction(t)
    stops(
      { devMode: true },
      'devMode: expected no dev mode where NODE_ENV is production, found true (option)',
    )
  })

  for (const value of ['production ', 'Production']) {
    test(`is refused if it is ${JSON.stringify(value)}`, (t) => {
      inProduction(t, value)
      stops({ devMode: true }, 'devMode: ')
    })
  }

  test('is refused in an INI file', (t) => {
    inProduction(t)
    assert.throws(() => loadIni('[auth]\ndev_mode = yes\n'), configError('dev_mode: ', 'line 2'))
  })

  test('does not matter if code turns off what the INI file turns on', (t) => {
    inProduction(t)
    const configFile = folder.write('[auth]\ndev_mode = yes\n')
    assert.equal(load({ configFile, devMode: false }).settings.devMode, false)
  })

  test('does not matter if dev mode is off', (t) => {
    inProduction(t)
    assert.equal(load({}).settings.devMode, false)
  })
})

describe('a name with a small mistake', () => {
  for (const [name, nearest] of [
    ['isuer', 'issuer'],
    ['isuers', 'issuers'],
    ['issuer_s', 'issuers'],
    ['allowPrivateIssuer', 'allowPrivateIssuers'],
    ['dev_mode', 'devMode'],
    ['Issuer', 'issuer'],
    ['keysMaxage', 'keysMaxAge'],
    ['algoritms', 'algorithms'],
    ['audeince', 'audience'],
    ['configfile', 'configFile'],
    ['iss\u200buer', 'issuer'],
    ['publicKeysUri', 'publicKeysUrl'],
    ['tenantParam', 'tenantParameter'],
    ['public', 'publicUrl'],
    ['publicKey', 'publicKeys'],
    ['superuser', 'superuserResource'],
    // Names of other software.
    ['jwksUri', 'publicKeysUrl'],
    ['jwks_uri', 'publicKeysUrl'],
    ['jwksUrl', 'publicKeysUrl'],
    ['issuerUrl', 'issuer'],
    ['domain', 'issuer'],
  ] as const) {
    test(`${JSON.stringify(name)} is shown with ${nearest} alone`, () => {
      stops(
        { [name]: 'a' },
        `: expected ${nearest}, found "${name.replace('\u200b', '\\u200b')}" (option): did`,
      )
    })
  }

  for (const [key, nearest] of [
    ['keys_maxage', 'keys_max_age'],
    ['keys_max_aeg', 'keys_max_age'],
    ['devMode', 'dev_mode'],
    ['issuer[]', 'issuer'],
    ['"issuer"', 'issuer'],
    ['tenant_param', 'tenant_parameter'],
    ['jwks_uri', 'public_keys_url'],
  ] as const) {
    test(`${key} of an INI file is shown with ${nearest} alone`, () => {
      assert.throws(
        () => loadIni(`[auth]\n${key} = 300\n`),
        configError(
          `${key}: expected ${nearest}, found "${key}" (`,
          `line 2): did you mean ${nearest}?`,
        ),
      )
    })
  }

  for (const name of ['toString', 'x', '', 'jwks', 'a'.repeat(10_000)]) {
    test(`${name.slice(0, 20) || 'an empty name'} is near to no name`, () => {
      const seen = () => load({ [name]: 1 })
      assert.throws(seen, (error: Error) => !/did you mean/.test(error.message))
    })
  }

  test('the names of all options are listed once, for those that are near to none', () => {
    assert.throws(
      () => load({ tenantParam: 'org', nonsense: 1, isuer: 'a', other: 2 }),
      ({ message }: Error) => {
        const lines = message.split('\n')
        assert.match(lines.splice(1, 1).join(), /^nonsense: expected one of publicKeysUrl, /)
        assert.deepEqual(lines, [
          'tenantParam: expected tenantParameter, found "tenantParam" (option): did you mean tenantParameter?',
          'isuer: expected issuer, found "isuer" (option): did you mean issuer?',
          'other: expected one of the names above, found "other" (option)',
        ])
        return true
      },
    )
  })

  for (const [what, options, ...parts] of [
    ['publicKeys', { publicKeys: SECRET }, 'verify, found a text of 26 characters (option): ', GO],
    ['a list of publicKeys', { publicKeys: [SECRET] }, 'publicKeys: expected a JWK set', 'a list:'],
    ['secret', { secret: SECRET }, 'secret: expected opaqueToken, found "secret" (option): ', GO],
    [
      'opaqueToken',
      { opaqueToken: SECRET },
      'opaqueToken: expected a function, found a text of 26 characters (option): ',
      GO,
    ],
    ['an issuer', { issuers: [{ publicKeys: SECRET }] }, 'issuers[0].publicKeys: ', GO],
    [
      'an address in publicKeys',
      { publicKeys: `https://a.test/${SECRET}` },
      'did you mean publicKeysUrl?',
    ],
    ['a misspelt option', { audiense: SECRET }, 'did you mean audience?'],
  ] as const) {
    test(`a shared secret in ${what} is not shown`, () => {
      const isHidden = ({ message }: Error) => !message.includes(SECRET)
      stops(options, ...parts)
      assert.throws(() => load(options), isHidden)
    })
  }

  test('publicKeys of an environment variable that is missing are shown as such', () => {
    const message = 'found undefined (option): is an environment variable missing?'
    stops({ publicKeys: undefined }, 'publicKeys: ', message)
  })

  test('a letter that looks like another is shown by its number', () => {
    stops({ '\u0456ssuer': 'a' }, '\\u0456ssuer: expected issuer, ')
  })
})

test('a value whose cure is known is refused with it', () => {
  const cures: readonly [options: object, found: string | RegExp][] = [
    [{ keysMaxAge: '300' }, 'found "300" (option): this is a text; Number(…) makes a number of it'],
    [{ keysMaxAge: 'soon' }, /found "soon" \(option\)$/],
    [{ issuer: 'a\n' }, 'found "a\\n" (option): it ends with a line break, as files do; trim()'],
    [{ audience: ['a', 'b\r\n'] }, '["a", "b\\r\\n"] (option): it ends with a line break'],
    [
      { publicKeys: '-----BEGIN PUBLIC KEY-----' },
      '(option): a key in PEM becomes a member of keys',
    ],
    [{ checks: { fits: () => true, own: true } }, 'found an object (option): look at own'],
  ]
  for (const [options, found] of cures) stops(options, found)
})

test('the cure of a text in code is not that of a file', () => {
  for (const value of ['1e3', '.5', '0x10']) {
    const file = folder.write(`[auth]\nkeys_max_age = ${value}\n`)
    const message = new RegExp(`found "${value}" \\([^)]*, line 2\\)$`)
    stops({ configFile: file }, 'keys_max_age: expected seconds from 0', message)
  }
})

describe('an option that is undefined', () => {
  for (const { option, kind } of OPTION_TABLE) {
    test(`is refused: ${option}`, () => {
      stops(
        { [option]: undefined },
        `${option}: expected ${kind.expected}`,
        ', found undefined (option): is an environment variable missing?',
      )
    })
  }

  test('is refused within a list', () => {
    const message = 'found ["a", undefined] (option): is an environment variable missing?'
    for (const option of ['issuer', 'audience', 'algorithms', 'tokenTypes', 'tenants']) {
      stops({ [option]: ['a', undefined] }, `${option}: `, message)
      stops({ [option]: ['a', ''] }, 'found ["a", ""] (option)')
      stops({ [option]: new Array(1) }, 'found [undefined] (option)')
    }
  })

  test('is refused even if the INI file gives it', () => {
    const configFile = folder.write('[auth]\nissuer = a\n')
    stops({ configFile, issuer: undefined }, 'issuer: ')
  })
})

test('all problems are shown at once, each on its line, those of the file first', () => {
  const configFile = folder.write(
    '[auth]\nkeys_maxage = 300\nrealm = é\nissuer = "a\ndev_mode = maybe\n[tenants]\nids = *\nids = b\n',
  )
  const options = { configFile, realm: 7, audience: undefined, isuer: 'a', publicKeys: {} }
  assert.throws(
    () => load(options),
    (error: Error) => {
      assert.deepEqual(
        error.message.split('\n').map((line) => /^[^:]+|line \d/g[Symbol.match](line)?.join()),
        [
          'keys_maxage,line 2',
          'realm,line 3',
          'issuer,line 4',
          'dev_mode,line 5',
          'ids,line 7',
          '[tenants] ids,line 8',
          'realm',
          'audience',
          'isuer',
          'publicKeys',
        ],
      )
      return true
    },
  )
})

test('the problems of a mock user are shown with the others', () => {
  const devUserInfoPath = folder.write('{}')
  stops({ devMode: true, devUserInfoPath, realm: 7 }, /^realm: .*\ndevUserInfoPath: .*$/)
})

test('of thousands of problems the first are shown, and how many more there are', () => {
  const text = `[auth]\n${'x\n'.repeat(5000)}`
  assert.throws(
    () => loadIni(text),
    (error: Error) => {
      const lines = error.message.split('\n')
      assert.equal(lines.length, 51)
      assert.equal(lines.at(-1), 'and 4950 more')
      return true
    },
  )
})

describe('a key set that cannot be used', () => {
  const throwing = {
    get kty() {
      throw 'no Error'
    },
  }
  const { keys } = authority.publicKeys
  const forEncryption = Object.assign(Object.create({ use: 'enc' }), keys[0], { use: undefined })
  const OTHER = 'an object: it is made of other than plain objects and lists (option)'

  for (const [name, publicKeys, reason] of [
    ['none', {}, /found an object: \S.*/],
    [
      'a key set of 101 members',
      { keys: new Array(101).fill({}) },
      /an object: .*(?:many|100|101)/,
    ],
    ['a key set that throws', { keys: [throwing] }, /an object: it cannot be read \(option\)/],
    ['a key that inherits what it is for', { keys: [forEncryption] }, OTHER],
    ['a set that inherits its keys', Object.create({ keys }), OTHER],
    ['a set with a getter', Object.defineProperty({}, 'keys', { get: () => keys }), OTHER],
    ['a list of keys', [{ kty: 'EC' }], /found a list: \S.*/],
  ] as const) {
    test(`is shown with the reason: ${name}`, () => {
      stops({ publicKeys }, 'publicKeys: expected a JWK set', reason)
    })
  }
})

const missing = join(folder.path, 'missing.json')
const BUILT_IN = {
  sub: 'dev',
  preferred_username: 'dev',
  resources: { default: [], 'test-tenant': [] },
}

/** The beginning of the reason if a claim is wrong. */
const MALFORMED = 'user info that cannot be used: sub, resources or preferred_username'

/** @throws ERR_AUTH_CONFIG_INVALID */
function loadOfMockUserFile(path: string, isConfigured: boolean): UserInfo {
  const problems = new Problems()
  const user = loadMockUser(path, isConfigured, problems)
  problems.throwIfAny()
  assert.ok(user, 'neither a user nor a problem')
  return user
}

test('a file gives the mock user, claims of its own included, deeply frozen', () => {
  const user = {
    sub: 'u1',
    preferred_username: 'Ann',
    resources: { '*': ['a:b'], acme: [] },
    department: { name: 'x' },
  }
  const loaded = loadOfMockUserFile(folder.write(JSON.stringify(user)), true)
  assert.deepEqual(loaded, user)
  for (const part of [loaded, loaded.resources, loaded.resources?.['*'], loaded['department']]) {
    assert.equal(Object.isFrozen(part), true)
  }
})

test('a user without name and resources is a user too', () => {
  assert.deepEqual(loadOfMockUserFile(folder.write('{ "sub": "u1" }'), true), { sub: 'u1' })
})

test('a byte order mark before the user is skipped, as in an INI file', () => {
  assert.equal(loadOfMockUserFile(folder.write('\ufeff{ "sub": "u1" }'), true).sub, 'u1')
})

test('a file that is not UTF-8 is no user', () => {
  const path = folder.write(Buffer.from('{ "sub": "caf\xe9" }', 'latin1'))
  const found = 'found text that is not UTF-8'
  assert.throws(() => loadOfMockUserFile(path, true), configError('devUserInfoPath: ', found, path))
})

test('the file at the default path is read if it exists', () => {
  assert.equal(loadOfMockUserFile(folder.write('{ "sub": "u1" }'), false).sub, 'u1')
})

test('a relative path counts from the working directory', () => {
  const path = relative(process.cwd(), folder.write('{ "sub": "u1" }'))
  assert.equal(loadOfMockUserFile(path, true).sub, 'u1')
})

describe('the built-in user', () => {
  test('stands in for a default file that does not exist', () => {
    assert.deepEqual(loadOfMockUserFile(missing, false), BUILT_IN)
  })

  test('stands in for the default file', {
    skip: existsSync(Options.properties.devUserInfoPath.default) && 'this machine has that file',
  }, () => {
    const seen = loadOfMockUserFile(Options.properties.devUserInfoPath.default, false)
    assert.deepEqual(seen, BUILT_IN)
  })

  test('is frozen, and each service has its own', () => {
    const user = loadOfMockUserFile(missing, false)
    assert.equal(Object.isFrozen(user.resources?.['default']), true)
    assert.notEqual(loadOfMockUserFile(missing, false), user)
  })
})

test('a configured file must exist', () => {
  assert.throws(
    () => loadOfMockUserFile(missing, true),
    configError('devUserInfoPath: expected a JSON file with user info', 'found none', missing),
  )
})

for (const isConfigured of [true, false]) {
  const kind = isConfigured ? 'configured' : 'default'

  test(`a ${kind} file must be a file`, () => {
    assert.throws(
      () => loadOfMockUserFile(folder.path, isConfigured),
      configError('devUserInfoPath: ', 'found one that cannot be read', folder.path),
    )
  })

  for (const [text, found] of [
    ['', 'text that is no JSON'],
    ['sub: dev', 'text that is no JSON'],
    ['{ "sub": "u1", }', 'no JSON from line 1 on'],
    ['{\n  "sub": "u1",\n  "resources": {},\n}\n', 'no JSON from line 4 on'],
    ['[]', 'user info that cannot be used: the claims are no object'],
    ['null', 'user info that cannot be used: the claims are no object'],
    ['"u1"', 'user info that cannot be used: the claims are no object'],
    ['{}', MALFORMED],
    ['{ "sub": "" }', MALFORMED],
    ['{ "sub": 7 }', MALFORMED],
    ['{ "__proto__": { "sub": "u1" } }', MALFORMED],
    ['{ "sub": "u1", "preferred_username": 7 }', MALFORMED],
    ['{ "sub": "u1", "resources": null }', MALFORMED],
    ['{ "sub": "u1", "resources": ["acme"] }', MALFORMED],
    ['{ "sub": "u1", "resources": { "acme": "a:b" } }', MALFORMED],
    ['{ "sub": "u1", "resources": { "acme": [7] } }', MALFORMED],
    ['{ "sub": "u1", "resources": { "acme": { "0": "a:b" } } }', MALFORMED],
  ] as const) {
    test(`a ${kind} file must not say ${text || 'nothing'}`, () => {
      const file = folder.write(text)
      assert.throws(
        () => loadOfMockUserFile(file, isConfigured),
        configError(
          'devUserInfoPath: expected a JSON file with user info: sub, preferred_username, resources',
          `, found ${found}`,
          `(${file})`,
        ),
      )
    })
  }

  test(`no message repeats the contents of a ${kind} file`, () => {
    for (const text of [
      'sub: hunter2',
      '"hunter2" at position 5',
      '{ "sub": { "hunter2": "hunter2" } }',
    ]) {
      assert.throws(() => loadOfMockUserFile(folder.write(text), isConfigured), {
        message: /^devUserInfoPath: (?!.*hunter2)/,
      })
    }
  })
}
