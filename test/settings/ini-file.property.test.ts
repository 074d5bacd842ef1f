import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { ERR_AUTH_CONFIG_INVALID } from '../../lib/errors.ts'
import { loadSettings } from '../../lib/settings/load-settings.ts'
import type { Settings } from '../../lib/settings/options.ts'
import { holds, PROPERTY_RUNS } from '../helpers/arbitraries/property.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

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

test('of any bytes, those are read that are text with a section of ours', async (t) => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => Buffer.from(text)),
  )
  const outcomes = { read: 0, refused: 0 }
  await holds(
    t,
    fc.asyncProperty(bytes, async (value) => {
      assert.equal(load(value), null, 'read, without a section of ours')
      const settings = load(Buffer.concat([Buffer.from('[auth]\nrealm = '), value]))
      outcomes[settings === null ? 'refused' : 'read']++
      if (settings === null) return
      assert.equal(isUtf8(value), true, 'read, and no UTF-8')
      const [line] = Buffer.from(value)
        .toString()
        .split(/[\r\n]/)
      assert.match(settings.realm, /^[ -~]+$/)
      assert.equal(line?.replaceAll('\\\\', '\\').includes(settings.realm), true, settings.realm)
    }),
  )
  assert.ok(Math.min(...Object.values(outcomes)) > PROPERTY_RUNS / 100, JSON.stringify(outcomes))
})

/**
 * What a person means by a value, read by hand, character by character; null where it is refused.
 */
function meantBy(text: string): string | null {
  const [quote] = text
  return quote === '"' || quote === "'" ? meantByQuoted(text, quote) : meantByPlain(text)
}

function meantByQuoted(text: string, quote: '"' | "'"): string | null {
  let end = 1
  while (end < text.length && text[end] !== quote)
    end += quote === '"' && text[end] === '\\' ? 2 : 1
  if (end >= text.length || !/^(?:$|\s+[;#])/.test(text.slice(end + 1))) return null
  if (quote === "'") return text.slice(1, end)
  try {
    return JSON.parse(text.slice(0, end + 1))
  } catch {
    return null
  }
}

function meantByPlain(text: string): string | null {
  let end = 0
  while (end < text.length && text[end] !== ';' && text[end] !== '#') end++
  const isGlued = end > 0 && end < text.length && text[end - 1] !== ' '
  const value = text.slice(0, end).trim()
  return isGlued || /["']$/.test(value) ? null : value.replaceAll('\\\\', '\\')
}

test('a value arrives whole, as it was meant, or the file is refused', async (t) => {
  const special = fc.string({ unit: fc.constantFrom(...'ab ;#"\'\\=[]{}:,.'), maxLength: 12 })
  const quotes = fc.constantFrom('', "'", '"')
  const ends = fc.constantFrom('', ' ; a comment', '; glued', ' # it\'s "so"')
  const outcomes = { read: 0, refused: 0 }
  await holds(
    t,
    fc.asyncProperty(special, quotes, ends, async (value, quote, end) => {
      const text = `${quote}${value}${quote}${end}`
      const meant = meantBy(text.trim())
      // A realm is printable, and not empty.
      const expected = meant !== null && /^[ -~]+$/.test(meant) ? meant : null
      outcomes[expected === null ? 'refused' : 'read']++
      assert.equal(load(`[auth]\nrealm = ${text}\n`)?.realm ?? null, expected, text)
    }),
  )
  assert.ok(Math.min(...Object.values(outcomes)) > PROPERTY_RUNS / 10, JSON.stringify(outcomes))
})

test('nothing that is read reaches the prototype of all objects', () => {
  const text =
    '[__proto__]\npolluted = yes\n[auth]\nrealm = a\n[constructor]\nprototype.polluted = yes\n'
  assert.equal(load(text)?.realm, 'a')
  assert.equal(load('[auth]\n__proto__ = yes\n'), null)
  assert.equal(load('[auth]\n__proto__[polluted] = yes\n'), null)
  assert.equal('polluted' in {}, false)
})
