import { createTestAuthority } from '../../../lib/entrypoints/testing/index.ts'

/** One row of the contract's table of options. */
export interface OptionRow {
  readonly option: string
  /** Its key in the section `[auth]`. Absent for options that only code can give. */
  readonly key?: string
  readonly fallback?: unknown
  readonly kind: OptionKind
  /** What must be given beside it. */
  readonly beside?: Readonly<Record<string, unknown>>
}

/** What options of one kind take, with values to try. */
export interface OptionKind {
  /** The words after "expected". */
  readonly expected: string
  /** Texts of an INI file, and the value of each. */
  readonly ini?: readonly (readonly [text: string, value: unknown])[]
  readonly badIni?: readonly string[]
  readonly good: readonly unknown[]
  /**
   * Values that code must not give, and how a message shows each. `null` and `''` are bad for every
   * option.
   */
  readonly bad: readonly (readonly [value: unknown, found: string])[]
}

/** Texts that an INI file gives as they are. */
const texts = (...all: string[]) => all.map((text) => [text, text] as const)

/** Values that a message shows as they are, with strings in quotes. */
const shown = (...values: unknown[]) => values.map((value) => [value, textOf(value)] as const)

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${Array.from(value, textOf).join(', ')}]`
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

const SECONDS: OptionKind = {
  expected: 'seconds from 0 to 2147483',
  ini: [
    ['0', 0],
    ['7', 7],
    ['0.25', 0.25],
    ['2147483', 2_147_483],
  ],
  badIni: [
    '-1',
    '2147484',
    '1e3',
    '5s',
    '.5',
    '5.',
    'NaN',
    'Infinity',
    '0x10',
    'yes',
    '1 2',
    '1,5',
  ],
  good: [0, 0.5, 2_147_483],
  bad: shown(-1, -0.001, 2_147_484, Number.NaN, Number.POSITIVE_INFINITY, '5', true, 5n, [5]),
}

const SIZE: OptionKind = {
  expected: 'a whole number from 0',
  ini: [
    ['0', 0],
    ['12345', 12_345],
  ],
  badIni: ['-1', '1.5', '1e3', '10k', '9007199254740993', 'no', '1_000'],
  good: [0, 1, Number.MAX_SAFE_INTEGER],
  bad: shown(-1, 1.5, 2 ** 53, Number.NaN, '10', false),
}

const SWITCH: OptionKind = {
  expected: 'a boolean (in the INI file yes or no)',
  ini: [
    ...['yes', 'true', 'on', '1', 'YES', 'True', 'oN', '"yes"'].map(
      (text) => [text, true] as const,
    ),
    ...['no', 'false', 'off', '0', 'NO', 'False', 'oFf', "'no'"].map(
      (text) => [text, false] as const,
    ),
  ],
  badIni: ['y', 'n', 'enabled', '2', '01', 'yes no', 'null', 'undefined', 'yes,'],
  good: [true, false],
  bad: [...shown('yes', 'false', 0, 1), [{}, 'an object']],
}

const NAMES: OptionKind = {
  expected: 'a string or a list of strings',
  ini: [
    ['https://a.test', ['https://a.test']],
    ['a b,c ,  d', ['a', 'b', 'c', 'd']],
  ],
  badIni: [','],
  good: ['a', ['a'], ['a', 'b']],
  bad: [...shown([], [''], ['a', 1], [null], new Array(1)), [/a/, 'an object'], ...shown(7)],
}

const URLS = [
  ...shown(
    'ftp://localhost/keys',
    'file:///etc/passwd',
    'data:application/json,[]',
    'localhost:8081/keys',
    '/keys',
    'http://',
    'http://a b/',
  ),
  ['https://user:secret@a.test/', '"https://***@a.test/"'],
  ['https://:secret@a.test/', '"https://***@a.test/"'],
  ['https://user@a.test/', '"https://***@a.test/"'],
] as const

/** Addresses that cannot be the API's own, and how a message shows each. */
const NO_RESOURCES = [
  ...shown('http://api.test/mcp', 'http://10.0.0.1', 'https://api.test/', 'https://api.test/mcp/'),
  ...shown('https://api.test?'),
  ['https://api.test/mcp?a=b', '"https://api.test/mcp?***"'],
  ['https://user:secret@api.test', '"https://***@api.test"'],
  ['https://user@api.test/mcp', '"https://***@api.test/mcp"'],
  ...shown('https://API.test/mcp', 'HTTPS://api.test', 'https://api.test:443/mcp'),
  ...shown('https://api.test/a/../mcp', 'https://api.test/caf%C3%A9', 'https://api.test/*'),
  ...shown('https://münchen.test', 'https://api.test\\mcp', '//api.test/mcp', '/mcp'),
  ...shown('urn:api', 'lunch'),
] as const

const ADDRESS: OptionKind = {
  expected: 'an https URL (http on loopback) as URL parsers spell it, without credentials, ',
  ini: [['https://api.test/mcp', 'https://api.test/mcp']],
  badIni: ['no', ...NO_RESOURCES.map(([resource]) => String(resource))],
  good: [
    'https://api.test',
    'https://api.test:8443/a/b:c;d=e',
    'https://xn--mnchen-3ya.test/mcp',
    'http://localhost:1/mcp',
    'http://127.0.0.1:1',
    'http://[::1]/mcp',
  ],
  bad: [
    ...NO_RESOURCES,
    ['https://api.test#a', '"https://api.test#***"'],
    ...shown('https://api.test/a b', 'https://api.test/x\r\nset-cookie: a'),
    [new URL('https://api.test/mcp'), 'an object'],
    ...shown(['https://api.test/mcp'], 7),
  ],
}

const CALLABLE: OptionKind = {
  expected: 'a function',
  good: [() => null],
  bad: [...shown('() => true', true), [{}, 'an object']],
}

const authority = await createTestAuthority()
const [publicJwk] = authority.publicKeys.keys

/**
 * Section 3 of the contract, row by row. `algorithms` has no default here, because it depends on
 * Node.
 */
export const OPTION_TABLE: readonly OptionRow[] = [
  {
    option: 'publicKeysUrl',
    key: 'public_keys_url',
    fallback: 'http://localhost:8081/openidconnect/public_keys',
    kind: {
      expected: 'an http or https URL without credentials',
      ini: texts('https://a.test/keys', 'HTTP://a.test/keys?x=1&y=2'),
      badIni: ['no', ...URLS.map(([url]) => String(url))],
      good: ['http://localhost:1/', 'https://[::1]/keys'],
      bad: [...URLS, [new URL('https://a.test'), 'an object'], ...shown(7)],
    },
  },
  { option: 'multitenancy', key: 'multitenancy', fallback: true, kind: SWITCH },
  { option: 'devMode', key: 'dev_mode', fallback: false, kind: SWITCH },
  {
    option: 'devUserInfoPath',
    key: 'dev_user_info_path',
    fallback: '/conf/dev-userinfo.json',
    kind: {
      expected: 'a path',
      ini: texts('/somewhere/me.json'),
      good: ['/somewhere/me.json', 'me.json'],
      bad: [...shown(7), [{ sub: 'me' }, 'an object'], ...shown(['me.json'])],
    },
  },
  {
    option: 'issuer',
    key: 'issuer',
    kind: NAMES,
    beside: { publicKeysUrl: 'https://a.test/keys' },
  },
  { option: 'audience', key: 'audience', kind: NAMES },
  {
    option: 'algorithms',
    key: 'algorithms',
    kind: {
      expected: 'a list of RS256, ',
      ini: [
        ['RS256', ['RS256']],
        ['RS256 PS512, ES384 ,EdDSA', ['RS256', 'PS512', 'ES384', 'EdDSA']],
      ],
      badIni: ['none', 'HS256', 'ES256 HS512', 'ES256, none', 'es256', 'ES257', 'RSA', ','],
      good: [['ES256'], ['EdDSA', 'Ed25519']],
      bad: [
        ...shown([], ['none'], ['HS256'], ['ES256', 'HS384'], ['es256'], ['constructor']),
        ...shown([undefined], 'ES256'),
      ],
    },
  },
  {
    option: 'tokenTypes',
    key: 'token_types',
    kind: {
      expected: 'a list of token types such as at+jwt',
      ini: [
        ['at+jwt', ['at+jwt']],
        ['JWT, application/at+jwt', ['JWT', 'application/at+jwt']],
      ],
      badIni: [',', 'très'],
      good: [['JWT'], ['at+jwt', 'logout+jwt']],
      bad: shown([], [''], ['a b'], 'JWT', [null]),
    },
  },
  {
    option: 'confirmation',
    key: 'confirmation',
    fallback: 'refuse',
    kind: {
      expected: 'refuse, ignore, check or require',
      ini: texts('refuse', 'ignore', 'check', 'require'),
      badIni: ['Ignore', 'no', 'off', 'refuse ignore', 'required'],
      good: ['refuse', 'ignore', 'check', 'require'],
      bad: shown('IGNORE', false, ['ignore']),
    },
    beside: { publicUrl: 'https://api.test' },
  },
  { option: 'asyncContext', key: 'async_context', fallback: false, kind: SWITCH },
  { option: 'clockTolerance', key: 'clock_tolerance', fallback: 5, kind: SECONDS },
  { option: 'maxTokenLength', key: 'max_token_length', fallback: 16_384, kind: SIZE },
  {
    option: 'realm',
    key: 'realm',
    fallback: 'api',
    kind: {
      expected: 'printable ASCII',
      ini: [...texts('notes', 'the notes'), ['"a; b # c"', 'a; b # c']],
      badIni: ['é', 'a\tb', '"a\\nb"'],
      good: ['a "quoted" \\ realm', ' '],
      bad: [...shown('a\r\nset-cookie: x'), ['a\u007f', '"a\\u007f"'], ...shown('ü', 7)],
    },
  },
  {
    option: 'tenantParameter',
    key: 'tenant_parameter',
    fallback: 'tenant',
    kind: {
      expected: 'the name of a path parameter',
      ini: texts('org'),
      badIni: [':org', 'my-org', 'org?', 'a b'],
      good: ['org', 'Org_1'],
      bad: shown('', 'a/b', 'org\n', ['org']),
    },
  },
  {
    option: 'tenantQuery',
    key: 'tenant_query',
    fallback: 'tenant',
    kind: {
      expected: 'the name of a query parameter, 1 to 64 of A-Za-z0-9_.-',
      ini: texts('projectId'),
      badIni: ['?projectId', 'a b', 'project[id]', 'é', 'x'.repeat(65)],
      good: ['projectId', 'x.y-Z_1', 'x'.repeat(64)],
      bad: shown('', 'a&b', 'a=b', 'org\n', ['org']),
    },
  },
  { option: 'tenantDefault', key: 'tenant_default', fallback: false, kind: SWITCH },
  {
    option: 'superuserResource',
    key: 'superuser_resource',
    kind: {
      expected: 'a resource id <name>:<action>',
      ini: texts('authz:superuser'),
      badIni: ['superuser', 'authz:', ':superuser', 'authz: superuser', 'é:x'],
      good: ['authz:superuser', 'a:b:c'],
      bad: shown('superuser', 'authz:super user', 'a:"b"', ['authz:superuser']),
    },
  },
  {
    option: 'tenants',
    kind: {
      expected:
        'a list of tenant names, an http or https URL, or (in code) a function or { ids, suspended }',
      good: [
        'https://a.test/tenants',
        ['a'],
        ['a', 'b c', 'ü'],
        () => true,
        { ids: ['a'], suspended: [] },
        { ids: [], suspended: ['b'] },
        { ids: ['a'], suspended: ['b'] },
      ],
      bad: [
        ...URLS,
        ...shown('lazy-raccoon', [], ['*'], ['a', ''], ['a\n'], true),
        [['x'.repeat(256)], '["xxx'],
        [new Set(['a']), 'an object (option)'],
        [{ ids: [], suspended: [] }, 'an object (option): both lists are empty'],
        [{ ids: ['a'] }, 'an object (option): suspended is undefined'],
        [{ ids: 'a', suspended: ['b'] }, 'an object (option): ids is "a"'],
        [{ ids: ['a'], suspended: ['*'] }, 'an object (option): suspended is ["*"]'],
        [
          { ids: ['a'], suspended: ['b'], archived: ['c'] },
          'an object (option): archived is ["c"]',
        ],
      ],
    },
  },
  {
    option: 'suspendedTenants',
    key: 'suspended_tenants',
    fallback: 'refuse',
    kind: {
      expected: 'refuse or read',
      ini: texts('refuse', 'read'),
      badIni: ['Read', 'readonly', 'no'],
      good: ['refuse', 'read'],
      bad: shown('write', true),
    },
  },
  {
    option: 'implies',
    kind: {
      expected: 'an object of resource ids without *, each with a list of the ids that it implies',
      good: [{ 'a:b': ['c:d'] }, {}],
      bad: [
        ...shown(['a:b'], 'a:b'),
        [{ 'a:b': [] }, 'a:b: []'],
        [{ 'a:*': ['a:b'] }, 'a:*: ["a:b"]'],
        [{ 'a:b': 'c:d' }, 'a:b: "c:d"'],
      ],
    },
  },
  {
    option: 'checks',
    kind: {
      expected: 'an object of functions',
      good: [{ 'order:owner': () => true }, {}],
      bad: [
        [() => true, 'a function'],
        [[() => true], '[a function]'],
        [{ 'order:owner': true }, 'an object'],
      ],
    },
  },
  { option: 'publicUrl', key: 'public_url', kind: ADDRESS },
  {
    option: 'proofMaxAge',
    key: 'proof_max_age',
    fallback: 300,
    kind: {
      expected: 'seconds from 5 to 600',
      ini: [5, 600, 7.5].map((seconds) => [`${seconds}`, seconds]),
      badIni: ['4', '601', 'no', '5 s'],
      good: [5, 60.5, 600],
      bad: shown(4.9, 601, '300'),
    },
  },
  { option: 'proofSeen', kind: CALLABLE },
  { option: 'clientCertificate', kind: CALLABLE },
  { option: 'tenantsTimeout', key: 'tenants_timeout', fallback: 5, kind: SECONDS },
  { option: 'tenantsMaxAge', key: 'tenants_max_age', fallback: 60, kind: SECONDS },
  { option: 'keysTimeout', key: 'keys_timeout', fallback: 5, kind: SECONDS },
  { option: 'keysMaxAge', key: 'keys_max_age', fallback: 600, kind: SECONDS },
  { option: 'keysMaxStale', key: 'keys_max_stale', fallback: 3600, kind: SECONDS },
  { option: 'keysCooldown', key: 'keys_cooldown', fallback: 30, kind: SECONDS },
  { option: 'keysRetry', key: 'keys_retry', fallback: 1, kind: SECONDS },
  { option: 'tokenCacheSize', key: 'token_cache_size', fallback: 10_000, kind: SIZE },
  {
    option: 'resource',
    key: 'resource',
    kind: ADDRESS,
    beside: { issuer: 'https://a.test' },
  },
  {
    option: 'uncovered',
    key: 'uncovered',
    fallback: 'refuse',
    kind: {
      expected: 'warn, refuse or ignore',
      ini: texts('warn', 'refuse', 'ignore'),
      badIni: ['Warn', 'warning', 'no', 'warn refuse'],
      good: ['refuse', 'warn', 'ignore'],
      bad: shown('REFUSE', false, ['warn']),
    },
  },
  {
    option: 'undeclared',
    key: 'undeclared',
    fallback: 'ignore',
    kind: {
      expected: 'warn, refuse or ignore',
      ini: texts('warn', 'refuse', 'ignore'),
      badIni: ['Warn', 'warning', 'no', 'warn refuse'],
      good: ['refuse', 'warn', 'ignore'],
      bad: shown('REFUSE', false, ['warn']),
    },
  },
  {
    option: 'logBindings',
    key: 'log_bindings',
    kind: {
      expected: 'a list of tenant, sub, issuer, each once',
      ini: [
        ['tenant', ['tenant']],
        ['issuer, sub tenant', ['issuer', 'sub', 'tenant']],
      ],
      badIni: [',', 'user', 'Tenant', 'tenant, tenant', 'tenant sub email'],
      good: [['tenant'], ['sub', 'issuer']],
      bad: shown([], ['email'], ['sub', 'sub'], [undefined], 'tenant', true),
    },
  },
  {
    option: 'publicKeys',
    kind: {
      expected: 'a JWK set with at least one public key that may verify',
      good: [authority.publicKeys, { keys: [{ kty: 'unheard-of' }, null, publicJwk] }],
      bad: [
        [{}, 'an object'],
        [{ keys: [] }, 'an object'],
        [{ keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }, 'an object'],
        [{ keys: [{ ...publicJwk, use: 'enc' }] }, 'an object'],
        [{ keys: [{ ...publicJwk, d: 'c2VjcmV0' }] }, 'an object'],
        [{ keys: new Array(101).fill(publicJwk) }, 'an object'],
        [[publicJwk], 'a list'],
        ['https://a.test/keys', 'a text of 19 characters'],
        [7, 'a number'],
        [() => authority.publicKeys, 'a function'],
      ],
    },
  },
  {
    option: 'issuers',
    kind: {
      expected: 'a list of issuers, or a function',
      good: [
        [{ issuer: 'https://a.test', tenants: '*', audience: 'api' }],
        () => null,
        async () => null,
      ],
      bad: [
        ...shown([], 'https://a.test'),
        [{ issuer: 'https://a.test', tenants: '*' }, 'an object'],
        [new Map(), 'an object'],
      ],
    },
  },
  { option: 'issuersMaxAge', key: 'issuers_max_age', fallback: 300, kind: SECONDS },
  {
    option: 'issuersMax',
    fallback: 1000,
    kind: {
      expected: 'a whole number from 1 to 100000',
      good: [1, 100_000],
      bad: shown(0, 100_001, 1.5, '10'),
    },
    beside: { issuers: () => null },
  },
  {
    option: 'allowPrivateIssuers',
    fallback: false,
    kind: {
      expected: 'a boolean',
      good: [true, false],
      bad: shown('yes', 1),
    },
  },
  { option: 'resourcesOf', kind: CALLABLE },
  { option: 'resourcesMaxAge', key: 'resources_max_age', fallback: 30, kind: SECONDS },
  {
    option: 'opaqueToken',
    kind: {
      ...CALLABLE,
      bad: [['secret', 'a text of 6 characters'], ...shown(true), [{}, 'an object']],
    },
  },
  { option: 'opaqueMaxAge', key: 'opaque_max_age', fallback: 30, kind: SECONDS },
  { option: 'mapClaims', kind: CALLABLE },
  { option: 'isRevoked', kind: CALLABLE },
  { option: 'resolveTenant', kind: CALLABLE },
  { option: 'tokenFrom', kind: CALLABLE },
]
