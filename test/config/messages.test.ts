import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadSettings } from '../../lib/config/load-settings.ts'
import { supportedAlgorithms } from '../../lib/identity/jwks/algorithms.ts'
import { authority } from '../helpers/app/guarded-app.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const folder = tempFolder()

/** The whole message of a boot error. */
function messageOf(options: object): string {
  try {
    loadSettings(options)
  } catch (error) {
    assert.ok(error instanceof Error, 'it is an error')
    return error.message
  }
  return ''
}

const OURS = '[auth], [auth.NAME], [tenants] or [implies]'
const QUOTES = 'expected both quotes or none, found others, or a bad escape'
const IMPLIES = 'an object of resource ids without *, each with a list of the ids that it implies'
/** More than a message shows. */
const NAMES = Array.from({ length: 99 }, (_, index) => `check-${index}`)
const IMPLIED = 'a resource id without *, and a list of such ids'
const LISTS =
  'a list of tenant names, an http or https URL, or (in code) a function or { ids, suspended }'

/** The text of an INI file, and what is wrong with it. `LINE` stands for the path before its line. */
const IN_FILES: readonly [text: string, ...problems: string[]][] = [
  [
    '[tenants]\nsuspended = a b\n',
    'suspended: expected ids beside it, which lists the tenants, found none (LINE 2)',
  ],
  ['[tenants]\nids = *\nsuspended = a\n', `ids: expected ${LISTS}, found "*" (LINE 2)`],
  [
    '[tenants]\nids = *\nsuspended = *\n',
    `ids: expected ${LISTS}, found "*" (LINE 2)`,
    'suspended: expected a list of tenant names, found "*" (LINE 3)',
  ],
  [
    '[tenants]\nids = a\ntenant_url = https://a.test\nsuspended = b\n',
    'tenant_url: expected ids or tenant_url, found both (LINE 3)',
  ],
  [
    '[auth.a]\nissuer = https://a.test\ntenants = *\n[auth.a]\naudience = b\ntenants = b\n',
    '[auth.a]: expected it once, found it again (LINE 4)',
    '[auth.a] tenants: expected it once, found it again (LINE 6)',
  ],
  [
    '[tenants]\nids = a b\nsuspended = a *\n',
    'suspended: expected a list of tenant names, found "a *" (LINE 3)',
  ],
  [
    '[tenants]\nids = a b\nsuspended =\n',
    'suspended: expected a list of tenant names, found "" (LINE 3)',
  ],
  ['[implies]\na:b = "x\nc:d = e:f\n', `a:b: ${QUOTES}, in "\\"x" (LINE 2)`],
  [
    '[implies]\na:b = e:f\na:c = \nbad = x:y\n',
    `a:c: expected ${IMPLIED}, found [] (LINE 3)`,
    `bad: expected ${IMPLIED}, found ["x:y"] (LINE 4)`,
  ],
  ['[auth]\nissuer = "x\n', `issuer: ${QUOTES}, in "\\"x" (LINE 2)`],
  ['[auth]\ndev_mode = "yes\n', `dev_mode: ${QUOTES}, in "\\"yes" (LINE 2)`],
  [
    '[auth]\nclock_tolerance = abc ; why\n',
    'clock_tolerance: expected seconds from 0 to 2147483, found "abc" (LINE 2)',
  ],
  [
    '[auth]\ndev_mode = maybe ; why\n',
    'dev_mode: expected a boolean (in the INI file yes or no), found "maybe" (LINE 2)',
  ],
  [
    '[auth]\nissuer = = a\n',
    'issuer: expected one =, or quotes around the value, found = at the start of "= a" (LINE 2)',
  ],
  // What follows a broken section is not ours, and the section that is missing may be that one.
  ['[auth\na = 1\na = 2\n', 'a section: expected [name], found a broken section line (LINE 1)'],
  ['[Auth]\n', `a section: expected ${OURS}, found [Auth] (LINE 1): did you mean [auth]?`],
  [
    '[xauth.a]\n[auth.a b]\n',
    `a section: expected ${OURS}, found [xauth.a] (LINE 1): did you mean [auth.NAME]?`,
    `a section: expected ${OURS}, found [auth.a b] (LINE 2): did you mean [auth.NAME]?`,
  ],
  [
    `[auth.${'x'.repeat(65)}]\n`,
    `a section: expected ${OURS}, found [auth.${'x'.repeat(65)}] (LINE 1): did you mean [auth.NAME]?`,
  ],
  ...['teants', 'tenantss', 'tenonts', 'Tenants', 'xtenants'].map((name): [string, string] => [
    `[${name}]\n[auth]\n`,
    `a section: expected ${OURS}, found [${name}] (LINE 1): did you mean [tenants]?`,
  ]),
]

for (const [text, ...problems] of IN_FILES) {
  test(`in a file: ${JSON.stringify(text)}`, () => {
    const configFile = folder.write(text)
    const found = messageOf({ configFile }).replaceAll(`${configFile}, line`, 'LINE')
    assert.equal(found, problems.join('\n'))
  })
}

for (const name of ['oauth', 'OAuth.github', 'auht', 'tenant_list', 'other', 'database.auth']) {
  test(`[${name}] is a section of the application`, () => {
    assert.equal(messageOf({ configFile: folder.write(`[${name}]\n[auth]\nrealm = a\n`) }), '')
  })
}

const { publicKeys } = authority
const issuer = 'https://i.test'
const RULES = { audience: 'a', tenants: '*', publicKeys } as const
const PARAMETER = 'resource: expected no parameter but one whole segment :tenant'
const ALGORITHMS = `a list of ${supportedAlgorithms.join(', ')}`
const TEXTS = 'a string or a list of strings'
const CUT = 'it ends with a line break, as files do; trim() takes that away'
const SECRET =
  'tokens that are signed with a secret go to opaqueToken: sharedSecret(…) of fastify-tenant-auth/introspection'

describe('in code', () => {
  for (const [options, ...problems] of [
    [
      { configFile: '/none.ini' },
      'configFile: expected a readable INI file in UTF-8, found none at /none.ini',
    ],
    [{ issuersMax: 5 }, 'issuersMax: expected a function in issuers beside it, found none'],
    [
      { resource: 'https://a.test', publicKeys },
      'resource: expected issuer, or issuers (in the INI file [auth.NAME]), found none: its clients must know whose tokens it accepts',
    ],
    ...['/:t', '/x:tenant', '/:tenant/:x', '/:tenantx'].map((path): [object, string] => [
      { issuer, resource: `https://a.test${path}` },
      `${PARAMETER}, found "https://a.test${path}": its name is tenantParameter`,
    ]),
    [
      { issuer, confirmation: 'check' },
      'confirmation: expected publicUrl, or resource, beside it, found none: a proof names the address that clients know the API by',
    ],
    [
      { issuer, confirmation: 'check', publicUrl: 'https://a.test/' },
      'publicUrl: expected an https URL (http on loopback) as URL parsers spell it, without credentials, query, fragment, % and *, and without a slash at its end, found "https://a.test/"',
    ],
    [
      { issuers: [{ ...RULES, issuer, publicKeysUrl: 'https://i.test/keys' }] },
      'issuers[0].publicKeys: expected publicKeysUrl or publicKeys, found both',
    ],
    [
      { issuers: [RULES, RULES] },
      'issuers[0].issuer: expected a string without white space, found none',
      'issuers[1].issuer: expected a string without white space, found none',
    ],
    [
      { implies: { 'a:b': ['c:d'], 'c:d': ['a:b'], 'e:f': ['a:b'], 'g:h': ['g:h'] } },
      'implies: expected ids that do not imply themselves, found a:b, c:d, g:h',
    ],
    [
      { implies: { bad: ['a:b'], 'a:b': ['c:d'], 'c:d': [] } },
      `implies: expected ${IMPLIES}, found bad: ["a:b"]`,
      `implies: expected ${IMPLIES}, found c:d: []`,
    ],
    [
      { issuers: [{ issuer, audience: 'a', tenants: [] }, 5, [], undefined] },
      "issuers[0].tenants: expected '*' or a list of tenant names, found []",
      'issuers[1]: expected an object, found a number',
      'issuers[2]: expected an object, found a list',
      'issuers[3]: expected an object, found undefined: is an environment variable missing?',
    ],
    [
      { implies: { 'a:b': ['s:u'] }, superuserResource: 's:u' },
      'implies: expected ids that do not imply superuserResource, found s:u: grant it under * in its own right',
    ],
    [
      { clockTolerance: '5' },
      'clockTolerance: expected seconds from 0 to 2147483, found "5": this is a text; Number(…) makes a number of it',
    ],
    ...['', 'x'].map((text): [object, string] => [
      { clockTolerance: text },
      `clockTolerance: expected seconds from 0 to 2147483, found "${text}"`,
    ]),
    [{ clockTolerance: true }, 'clockTolerance: expected seconds from 0 to 2147483, found true'],
    [{ issuer: `${issuer}\n` }, `issuer: expected ${TEXTS}, found "${issuer}\\n": ${CUT}`],
    [{ audience: ['a', 'b\r'] }, `audience: expected ${TEXTS}, found ["a", "b\\r"]: ${CUT}`],
    [{ audience: ['a\nb', 5] }, `audience: expected ${TEXTS}, found ["a\\nb", 5]`],
    [{ algorithms: ['HS256'] }, `algorithms: expected ${ALGORITHMS}, found ["HS256"]: ${SECRET}`],
    [{ algorithms: 'HS256' }, `algorithms: expected ${ALGORITHMS}, found "HS256": ${SECRET}`],
    [{ algorithms: ['xHS256'] }, `algorithms: expected ${ALGORITHMS}, found ["xHS256"]`],
    [{ algorithms: ['HS256x'] }, `algorithms: expected ${ALGORITHMS}, found ["HS256x"]`],
    [
      { opaqueToken: 'secret' },
      `opaqueToken: expected a function, found a text of 6 characters: ${SECRET}`,
    ],
    [{ opaqueToken: 5 }, 'opaqueToken: expected a function, found a number'],
    [
      { checks: { a: 5, b() {}, c: 'x' } },
      'checks: expected an object of functions, found an object: look at a, c',
    ],
    [
      { checks: Object.fromEntries(NAMES.map((name) => [name, 5])) },
      `checks: expected an object of functions, found an object: look at ${NAMES.join(', ').slice(0, 80)}…`,
    ],
    [{ checks: 5 }, 'checks: expected an object of functions, found 5'],
  ] as const) {
    test(JSON.stringify(options).slice(0, 120), () => {
      const places = / \(option\)/g
      assert.equal(messageOf(options).replaceAll(places, ''), problems.join('\n'))
      assert.equal(messageOf(options).match(places)?.length, problems.length)
    })
  }
})
