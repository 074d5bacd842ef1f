import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { generateKeyPair } from 'jose'
import { loadSettings } from '../../lib/settings/load-settings.ts'
import { Options } from '../../lib/settings/options.ts'
import { configError } from '../helpers/config-error.ts'
import { OPTION_TABLE, type OptionRow } from '../helpers/option-table.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { untyped } from '../helpers/untyped-options.ts'

const folder = tempFolder()

const load = (options: object) => loadSettings(untyped(options))
const read = (options: object, { option }: OptionRow) =>
  new Map<string, unknown>(Object.entries(load(options).settings)).get(option)
const iniFile = (line: string) => folder.write(`[auth]\n${line}\n`)

test('the table of tests has every option of the schema, and no other', () => {
  const tested = OPTION_TABLE.map(({ option }) => option)
  assert.deepEqual(tested.toSorted(), Object.keys(Options.properties).toSorted())
})

for (const row of OPTION_TABLE) {
  const { option, key, fallback, expected, ini = [], badIni = [], good, bad } = row
  describe(option, () => {
    if (option !== 'algorithms') {
      test('has its default where nobody gives it', () => {
        assert.deepEqual(read({}, row), fallback)
        assert.equal(load({}).given.size, 0)
      })
    }

    test('given as undefined is not given', () => {
      const { given } = load({ [option]: undefined })
      assert.equal(given.size, 0)
      assert.deepEqual(read({ [option]: undefined }, row), read({}, row))
    })

    for (const value of good) {
      test(`takes ${show(value)} in code`, () => {
        assert.deepEqual(read({ [option]: value }, row), value)
        assert.deepEqual([...load({ [option]: value }).given], [option])
      })
    }

    for (const [value, found] of [...bad, [null, 'null'] as const, ['', '""'] as const]) {
      test(`refuses ${show(value)} in code`, () => {
        assert.throws(
          () => load({ [option]: value }),
          configError(`${option}: expected ${expected}`, `, found ${found}`, /\(option\)$/),
        )
      })
    }

    if (key === undefined) return

    for (const [text, value] of ini) {
      test(`reads ${text} in an INI file`, () => {
        const configFile = iniFile(`${key} = ${text}`)
        assert.deepEqual(read({ configFile }, row), value)
        assert.deepEqual([...load({ configFile }).given], [option])
      })
    }

    for (const text of [...badIni, '', '""', "''"]) {
      test(`refuses ${JSON.stringify(text)} in an INI file`, () => {
        const configFile = iniFile(`${key} = ${text}`)
        assert.throws(
          () => load({ configFile }),
          configError(`${key}: expected ${expected}`, ', found ', `(${configFile}, line 2)`),
        )
      })
    }

    test('wins in code over the INI file', () => {
      const configFile = iniFile(`${key} = ${ini[0]?.[0]}`)
      const inCode = good.at(-1)
      assert.notDeepEqual(inCode, ini[0]?.[1])
      assert.deepEqual(read({ configFile, [option]: inCode }, row), inCode)
      assert.deepEqual(read({ configFile, [option]: undefined }, row), ini[0]?.[1])
    })
  })
}

test('the default of algorithms is every asymmetric algorithm that jose supports here', async () => {
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

function show(value: unknown): string {
  return typeof value === 'bigint'
    ? `${value}n`
    : (JSON.stringify(value) ?? String(value)).slice(0, 60)
}
