import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { ERR_AUTH_CONFIG_INVALID } from '../../lib/errors.ts'
import { loadSettings } from '../../lib/settings/load-settings.ts'
import type { Settings } from '../../lib/settings/options.ts'
import { holds, PROPERTY_RUNS } from '../helpers/property.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const configFile = tempFolder().write('', 'app.ini')

/** The settings of an INI file; null where it is refused, in the one way that boot errors have. */
function load(content: string | Uint8Array): Settings | null {
  writeFileSync(configFile, content)
  try {
    return loadSettings({ configFile }).settings
  } catch (error) {
    assert.ok(error instanceof ERR_AUTH_CONFIG_INVALID, String(error))
    assert.ok(error.message.includes(configFile), error.message)
    return null
  }
}

/** What a person takes for the switch, in a section that a person takes for ours. */
const SWITCHED_ON = /^\s*dev_mode\s*=\s*(["']?)(?:yes|true|on|1)\1\s*(?:\s[;#].*)?$/i
const OUR_SECTION = /^\s*\[\s*auth\s*\]/
const ANY_SECTION = /^\s*\[/

function saysDevMode(text: string): boolean {
  let isOurs = false
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (ANY_SECTION.test(line)) isOurs = OUR_SECTION.test(line.replace('\ufeff', ''))
    else if (isOurs && SWITCHED_ON.test(line)) return true
  }
  return false
}

const words = fc.constantFrom(
  ...['[', ']', '=', ';', '#', '"', "'", '\\', ' ', '\t', '\n', '\r\n', '\r', '\ufeff', '.', '[]'],
  ...['[auth]', '[ auth ]', '[Auth]', '["auth"]', '[auth.x]', '[tenants]', '[app]', '[__proto__]'],
  ...['auth', 'tenants', 'dev_mode', 'devMode', '__proto__', 'constructor', 'realm', 'ids'],
  ...['yes', 'no', 'true', 'on', 'off', '1', '0', 'null', 'a', '\u2028', '\u0000', '\u00a0', 'é'],
)
const lines = fc.constantFrom(
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
)
const texts = fc.oneof(
  fc.array(words, { maxLength: 30 }).map((parts) => parts.join('')),
  fc
    .tuple(fc.array(lines, { maxLength: 8 }), fc.constantFrom('\n', '\r\n', '\r'))
    .map(([parts, lineEnd]) => parts.join(lineEnd)),
  fc
    .array(fc.oneof(lines, fc.string({ unit: 'binary', maxLength: 20 })), { maxLength: 6 })
    .map((parts) => parts.join('\n')),
  fc.tuple(fc.constant('[auth]'), lines, lines).map((parts) => parts.join('\n')),
)

test('whatever an INI file says, it is read or refused, and never turns on dev mode but by saying so', async (t) => {
  const outcomes = { on: 0, off: 0, refused: 0 }
  await holds(
    t,
    fc.asyncProperty(texts, async (text) => {
      const settings = load(text)
      outcomes[settings === null ? 'refused' : settings.devMode ? 'on' : 'off']++
      if (settings?.devMode) assert.ok(saysDevMode(text), 'dev mode, and nobody said so')
    }),
  )
  // Otherwise the property would hold of texts that never get that far.
  assert.ok(Math.min(...Object.values(outcomes)) > PROPERTY_RUNS / 100, JSON.stringify(outcomes))
})

test('whatever the bytes, a file is read or refused', async (t) => {
  await holds(
    t,
    fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
      assert.notEqual(load(bytes)?.devMode, true)
      load(Buffer.concat([Buffer.from('[auth]\nrealm = '), bytes]))
    }),
  )
})

test('a value arrives whole, or the file is refused', async (t) => {
  /** The characters that mean something, by the quotes around them. */
  const forms = [
    { quote: '', special: /[;#"'\\]/ },
    { quote: "'", special: /'/ },
    { quote: '"', special: /["\\]/ },
  ]
  await holds(
    t,
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom(...'ab ;#"\'\\=[]{}:,.'), minLength: 1, maxLength: 12 }),
      fc.constantFrom(...forms),
      async (value, { quote, special }) => {
        const settings = load(`[auth]\nrealm = ${quote}${value}${quote}\n`)
        const whole = quote === '' ? value.trim() : value
        if (!special.test(value) && whole !== '') assert.equal(settings?.realm, whole)
      },
    ),
  )
})

test('nothing that is read reaches the prototype of all objects', () => {
  load('[__proto__]\npolluted = yes\n[auth]\nrealm = a\n[constructor]\nprototype.polluted = yes\n')
  assert.equal(load('[auth]\n__proto__ = yes\n'), null)
  assert.equal(load('[auth]\n__proto__[polluted] = yes\n'), null)
  assert.equal('polluted' in {}, false)
})
