import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { errors } from '../../lib/index.ts'
import { INI_KEYS } from '../../lib/settings/ini-values.ts'
import { loadSettings } from '../../lib/settings/load-settings.ts'
import { anyText, INHERITED } from '../helpers/arbitraries/arbitrary-claims.ts'
import { holds, PROPERTY_RUNS } from '../helpers/arbitraries/property.ts'
import { expectUnspoiltPrototypes } from '../helpers/processes/unspoilt.ts'

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
  '\f',
  '\u0085',
]

/** A text of which a message shows a part. */
const LONG = 'x'.repeat(300)
const LONGER_THAN_SHOWN = /x{81}/

const KNOWN = new Set([...INI_KEYS.auth.keys(), ...INI_KEYS.tenants.keys()])

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

test('any text for an INI file is settings or a configuration error, and dev mode only where it says so', async (t) => {
  const outcomes = { read: 0, refused: 0 }
  await holds(
    t,
    fc.asyncProperty(fc.oneof(text, fc.uint8Array()), async (content) => {
      writeFileSync(FILE, content)
      try {
        const { settings } = loadSettings({ configFile: FILE })
        const rows = ourRows(Buffer.from(content).toString())
        assert.equal(settings.devMode, saysDevMode(rows))
        assert.notDeepEqual(rows, [], 'read, without a section of ours')
        const unknown = rows.filter(({ key }) => key !== null && !KNOWN.has(key))
        assert.deepEqual(unknown, [])
        outcomes.read++
      } catch (error) {
        if (!(error instanceof errors.ERR_AUTH_CONFIG_INVALID)) throw error
        assert.doesNotMatch(error.message, LONGER_THAN_SHOWN)
        outcomes.refused++
      }
    }),
  )
  assert.ok(Math.min(...Object.values(outcomes)) > PROPERTY_RUNS / 100, JSON.stringify(outcomes))
})

/** A row of a section of ours. The section line itself has no key. */
interface OurRow {
  readonly section: string
  readonly key: string | null
  readonly value: string
}

/** The rows of `[auth]` and `[tenants]`, without comments and blank rows. */
function ourRows(content: string): OurRow[] {
  const rows: OurRow[] = []
  let section = ''
  for (const row of content.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)) {
    const name = /^\s*\[\s*([^\]]*?)\s*\]/.exec(row)?.[1]
    if (name !== undefined) section = name
    if (section !== 'auth' && section !== 'tenants') continue
    const [key = '', ...value] = row.split('=')
    if (name !== undefined) rows.push({ section, key: null, value: '' })
    else if (!/^\s*(?:$|[;#])/.test(row))
      rows.push({ section, key: key.trim(), value: value.join('=') })
  }
  return rows
}

/** Whether a row of `[auth]` turns dev mode on. */
function saysDevMode(rows: readonly OurRow[]): boolean {
  return rows.some(
    ({ section, key, value }) =>
      section === 'auth' &&
      key === 'dev_mode' &&
      /^\s*["']?(?:yes|true|on|1)["']?(?:\s|$)/i.test(value),
  )
}
