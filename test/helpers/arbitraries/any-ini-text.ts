import fc from 'fast-check'
import { anyCharacter } from './any-character.ts'
import { anyText, INHERITED } from './arbitrary-claims.ts'

const KEYS = [
  'dev_mode',
  'dev_mode',
  'multitenancy',
  'issuer',
  'realm',
  'noauth',
  'DEV_MODE',
  'ids',
]
const VALUES = [
  'yes',
  'no',
  'on',
  'off',
  'true',
  'False',
  '1',
  '0',
  'YES',
  'https://a.test',
  '5',
  'none',
]
const SECTIONS = [
  'auth',
  'auth',
  'auth',
  'tenants',
  'app',
  'Auth',
  'auth.x',
  '"auth"',
  ...INHERITED,
]
const MARKS = [
  '=',
  ' = ',
  '[]=',
  ' ',
  ';',
  '#',
  '"',
  "'",
  ']',
  '\\',
  '\ufeff',
  '\t',
  '\r',
  '\u2028',
  '\f',
  '\u0085',
]

/** A text of which a message shows a part. */
const LONG = 'x'.repeat(300)

const word = fc.oneof(fc.constantFrom(...KEYS, ...VALUES, ...MARKS, LONG), anyText)
const line = fc.oneof(
  fc.tuple(
    fc.constantFrom(...KEYS),
    fc.constantFrom('=', ' = '),
    fc.constantFrom(...VALUES, ...MARKS, LONG),
  ),
  fc.constantFrom(...SECTIONS).map((name) => [`[${name}]`]),
  fc.array(word, { maxLength: 4 }),
)
const text = fc
  .tuple(
    fc.constantFrom('', '\ufeff', '[auth]\n'),
    fc.array(line, { maxLength: 8 }),
    fc.constantFrom('\n', '\r\n', '\r'),
  )
  .map(([start, lines, end]) => start + lines.map((words) => words.join('')).join(end))

const spelling = fc.constantFrom(
  ...['[', ']', '=', ';', '#', '"', "'", '\\', ' ', '\t', '\n', '\r\n', '\r', '\ufeff', '.', '[]'],
  ...['[auth]', '[ auth ]', '[Auth]', '["auth"]', '[auth.x]', '[tenants]', '[app]', '[__proto__]'],
  ...['auth', 'tenants', 'dev_mode', 'devMode', '__proto__', 'constructor', 'realm', 'ids'],
  ...['yes', 'no', 'true', 'on', 'off', '1', '0', 'null', 'a', '\u2028', '\u0000', '\u00a0', 'é'],
)
const closeLine = fc.constantFrom(
  ...['[auth]', '[tenants]', '[app]', '; [auth]', '[auth] ; x', '\ufeff[auth]', ''],
  ...[
    'dev_mode = yes',
    'dev_mode = no',
    'dev_mode=yes;',
    'dev_mode = "on" # x',
    '; dev_mode = yes',
  ],
  ...['dev_mode', "dev_mode = '1'", 'dev_mode = yes no', 'dev_mode[] = yes', 'Dev_Mode = yes'],
  ...['realm = a', 'realm = dev_mode = yes', 'realm = "a\\ndev_mode = yes"', 'issuer = a, b'],
  ...['ids = a', 'tenant_url = https://a.test', 'auth.dev_mode = yes', '__proto__.dev_mode = yes'],
  ...['__proto__ = yes', '__proto__[polluted] = yes', '[__proto__]', '[constructor]'],
)
/** Texts of lines and words that come close to a section or a switch of ours. */
const closeText = fc.oneof(
  fc.array(spelling, { maxLength: 30 }).map((parts) => parts.join('')),
  fc
    .tuple(fc.array(closeLine, { maxLength: 8 }), fc.constantFrom('\n', '\r\n', '\r'))
    .map(([parts, lineEnd]) => parts.join(lineEnd)),
  fc
    .array(fc.oneof(closeLine, fc.string({ unit: anyCharacter, maxLength: 20 })), { maxLength: 6 })
    .map((parts) => parts.join('\n')),
  fc.tuple(fc.constant('[auth]'), closeLine, closeLine).map((parts) => parts.join('\n')),
  closeLine.map((written) => `[auth]\n${written}`),
  fc.constantFrom('yes', '1', 'True', 'no').map((value) => `[auth]\ndev_mode = ${value}`),
)

/** Any text of an INI file: of words of ours, of texts that come close to them, or of any bytes. */
export const anyIniText: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  text,
  { arbitrary: closeText, weight: 4 },
  fc.uint8Array(),
)
