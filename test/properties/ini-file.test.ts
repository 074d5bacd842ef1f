import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { INI_KEYS } from '../../lib/config/ini-values.ts'
import { loadSettings } from '../../lib/config/load-settings.ts'
import type { Settings } from '../../lib/config/options.ts'
import { ERR_AUTH_CONFIG_INVALID } from '../../lib/errors.ts'
import { anyIniText } from '../helpers/arbitraries/any-ini-text.ts'
import { holds, PROPERTY_RUNS } from '../helpers/arbitraries/property.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { expectUnspoiltPrototypes } from '../helpers/processes/unspoilt.ts'

expectUnspoiltPrototypes()
const configFile = tempFolder().write('', 'app.ini')

/** More letters in a row of a long text than a message shows. */
const LONGER_THAN_SHOWN = /x{81}/

const KNOWN = new Set([...INI_KEYS.auth.keys(), ...INI_KEYS.tenants.keys()])

/** The settings of an INI file; null if it is refused, in the one way that boot errors have. */
function load(content: string | Uint8Array): Settings | null {
  writeFileSync(configFile, content)
  try {
    return loadSettings({ configFile }).settings
  } catch (error) {
    assert.ok(error instanceof ERR_AUTH_CONFIG_INVALID, String(error))
    assert.ok(error.message.includes(configFile), error.message)
    assert.doesNotMatch(error.message, LONGER_THAN_SHOWN)
    return null
  }
}

test('any text of an INI file is read or refused, and turns on dev mode only if it says so', async (t) => {
  const outcomes = { on: 0, off: 0, refused: 0 }
  await holds(
    t,
    fc.asyncProperty(anyIniText, async (content) => {
      const settings = load(content)
      outcomes[settings === null ? 'refused' : settings.devMode ? 'on' : 'off']++
      if (settings === null) return
      const rows = ourRows(Buffer.from(content).toString())
      assert.equal(settings.devMode, saysDevMode(rows))
      assert.notDeepEqual(rows, [], 'read without a section of ours')
      const unknown = rows.filter(({ key }) => key !== null && !KNOWN.has(key))
      assert.deepEqual(unknown, [])
    }),
  )
  // Without this, the property could hold because no text comes so far.
  assert.ok(Math.min(...Object.values(outcomes)) > PROPERTY_RUNS / 100, JSON.stringify(outcomes))
})

test('bytes are read only if they are UTF-8 with a section of ours', async (t) => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.uint8Array({ maxLength: 6 }).map((value) => Buffer.concat([Buffer.from('a ; '), value])),
    fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => Buffer.from(text)),
  )
  const outcomes = { read: 0, refused: 0 }
  await holds(
    t,
    fc.asyncProperty(bytes, async (value) => {
      assert.equal(load(value), null, 'read without a section of ours')
      const settings = load(Buffer.concat([Buffer.from('[auth]\nrealm = '), value]))
      outcomes[settings === null ? 'refused' : 'read']++
      if (settings === null) return
      assert.equal(isUtf8(value), true, 'read, but not UTF-8')
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
  return isGlued || /^=|["']$/.test(value) ? null : value.replaceAll('\\\\', '\\')
}

test('a value is read whole and as it was meant, or the file is refused', async (t) => {
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
