import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { errors } from '../../lib/index.ts'
import { loadSettings } from '../../lib/settings/load-settings.ts'
import { anyText, INHERITED } from '../helpers/arbitrary-claims.ts'
import { holds } from '../helpers/property.ts'
import { expectUnspoiltPrototypes } from '../helpers/unspoilt.ts'

expectUnspoiltPrototypes()
const folder = mkdtempSync(join(tmpdir(), 'tenant-auth-'))
after(() => rmSync(folder, { recursive: true }))
const FILE = join(folder, 'app.ini')

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
]

const word = fc.oneof(fc.constantFrom(...KEYS, ...VALUES, ...MARKS), anyText)
const line = fc.oneof(
  fc.tuple(
    fc.constantFrom(...KEYS),
    fc.constantFrom('=', ' = '),
    fc.constantFrom(...VALUES, ...MARKS),
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

test('any text for an INI file is settings or a configuration error, and dev mode only where it says so', async (t) => {
  await holds(
    t,
    fc.asyncProperty(fc.oneof(text, fc.uint8Array()), async (content) => {
      writeFileSync(FILE, content)
      try {
        const { settings } = loadSettings({ configFile: FILE })
        assert.equal(settings.devMode, saysDevMode(Buffer.from(content).toString()))
        assert.ok(!Object.keys(settings).some((name) => /noauth/i.test(name)))
      } catch (error) {
        if (!(error instanceof errors.ERR_AUTH_CONFIG_INVALID)) throw error
        assert.ok(error.message.length < 2000 + String(content).length)
      }
    }),
  )
})

/** Whether the one `[auth]` section holds the one line that turns dev mode on. */
function saysDevMode(content: string): boolean {
  let section = ''
  for (const row of content.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)) {
    const name = /^\s*\[\s*([^\]]*?)\s*\]/.exec(row)?.[1]
    if (name !== undefined) section = name
    const value = /^\s*dev_mode\s*=\s*(\S+)/.exec(row)?.[1]
    if (section === 'auth' && /^["']?(?:yes|true|on|1)["']?$/i.test(value ?? '')) return true
  }
  return false
}
