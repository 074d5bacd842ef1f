import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { generateKeyPair } from 'jose'
import { loadSettings } from '../../lib/config/load-settings.ts'
import { isNameOf } from '../../lib/config/option-reader.ts'
import { Options } from '../../lib/config/options.ts'
import { wrongPlace } from '../../lib/config/schema-check.ts'
import { configError } from '../helpers/app/config-error.ts'
import { OPTION_TABLE, type OptionKind, type OptionRow } from '../helpers/app/option-table.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const folder = tempFolder()

const load = (options: object) => loadSettings(options)
const read = (options: object, { option, beside }: OptionRow) =>
  new Map<string, unknown>(Object.entries(load({ ...beside, ...options }).settings)).get(option)
/** Which options were given, but those beside this one. */
const givenOf = (options: object, { beside }: OptionRow) =>
  [...load({ ...beside, ...options }).given].filter((name) => !Object.hasOwn(beside ?? {}, name))
const iniFile = (line: string) => folder.write(`[auth]\n${line}\n`)

test('the table of tests has every option of the schema, and no other', () => {
  const tested = OPTION_TABLE.map(({ option }) => option)
  assert.deepEqual(tested.toSorted(), Object.keys(Options.properties).toSorted())
})

for (const row of OPTION_TABLE) {
  const { option, key, fallback, kind } = row
  describe(option, () => {
    if (option !== 'algorithms') {
      test('has its default if it is not given', () => {
        assert.deepEqual(read({}, row), fallback)
        assert.equal(load({}).given.has(asName(option)), false)
      })
    }

    test('is given in code by its name', () => {
      const value = kind.good.at(-1)
      assert.deepEqual(read({ [option]: value }, row), value)
      assert.deepEqual(givenOf({ [option]: value }, row), [option])
    })

    if (key !== undefined) {
      test('is given in an INI file by its key, and code wins', () => {
        const [[text, value] = []] = kind.ini ?? []
        const configFile = iniFile(`${key} = ${text}`)
        assert.deepEqual(read({ configFile }, row), value)
        assert.deepEqual(givenOf({ configFile }, row), [option])
        const inCode = kind.good.at(-1)
        assert.notDeepEqual(inCode, value)
        assert.deepEqual(read({ configFile, [option]: inCode }, row), inCode)
      })
    }

    test('is of its kind, which is written in one place', () => {
      assert.deepEqual(withoutDefault(option), withoutDefault(firstOf(kind).option))
    })

    if (firstOf(kind) === row) proveKind(row)
  })
}

/**
 * What options of one kind take. The first of them proves it, because the others have the same
 * schema.
 */
function proveKind(row: OptionRow): void {
  const { option, key } = row
  const { expected, good, bad, ini = [], badIni = [] } = row.kind

  test(`takes ${good.length} good values in code`, () => {
    for (const value of good) assert.deepEqual(read({ [option]: value }, row), value)
  })

  test(`refuses ${bad.length} bad values, null and '' in code`, () => {
    for (const [value, found] of [...bad, [null, 'null'] as const, ['', '""'] as const]) {
      const parts = [`${option}: expected ${expected}`, `, found ${found}`, '(option)']
      assert.throws(() => load({ [option]: value }), configError(...parts), found)
    }
  })

  if (key === undefined) return

  test(`reads ${ini.length} texts of an INI file`, () => {
    for (const [text, value] of ini) {
      assert.deepEqual(read({ configFile: iniFile(`${key} = ${text}`) }, row), value, text)
    }
  })

  test(`refuses ${badIni.length} texts of an INI file, and an empty one`, () => {
    for (const text of [...badIni, '', '""', "''"]) {
      const configFile = iniFile(`${key} = ${text}`)
      const parts = [`${key}: expected ${expected}`, ', found "', `(${configFile}, line 2)`]
      assert.throws(() => load({ configFile }), configError(...parts), text)
    }
  })
}

function firstOf(kind: OptionKind): OptionRow {
  const first = OPTION_TABLE.find((row) => row.kind === kind)
  assert.ok(first, 'no option is of this kind')
  return first
}

function withoutDefault(option: string): object {
  const { default: _, ...schema } = Options.properties[asName(option)]
  return schema
}

function asName(option: string) {
  assert.ok(isNameOf(Options.properties, option), option)
  return option
}

test('each default is one that its schema allows', () => {
  const defaults = Object.entries(Options.properties).filter(([, schema]) => 'default' in schema)
  assert.notEqual(defaults.length, 0)
  for (const [name, schema] of defaults) {
    assert.equal(wrongPlace(schema, schema.default), undefined, name)
  }
})

test('the default of algorithms is every asymmetric algorithm that this Node has', async () => {
  const candidates = ['RS', 'PS', 'ES', 'HS'].flatMap((kind) =>
    ['256', '384', '512'].map((size) => kind + size),
  )
  candidates.push('EdDSA', 'Ed25519', 'ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87', 'ES256K', 'none')
  const supported: string[] = []
  for (const name of candidates) {
    const pair = await generateKeyPair(name).catch(() => null)
    if (pair) supported.push(name)
  }
  assert.deepEqual(load({}).settings.algorithms.toSorted(), supported.toSorted())
})
