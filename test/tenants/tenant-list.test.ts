import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Unusable } from '../../lib/outside/unusable.ts'
import { readTenantList } from '../../lib/tenants/tenant-list.ts'
import { isTenantName } from '../../lib/tenants/tenant-name.ts'

const REASON = 'the answer is no JSON array of tenant names'

const lists: [text: string, names: string[]][] = [
  ['[]', []],
  [' [ ] \n', []],
  ['["a"]', ['a']],
  ['\t[ "a" ,\r\n"b" ]', ['a', 'b']],
  ['["a","a"]', ['a']],
  ['[",","]","[","\\"","\\\\",",\\",\\""]', [',', ']', '[', '"', '\\', ',","']],
  ['["\\u0061","ä","🦝"]', ['a', 'ä', '🦝']],
]

for (const [text, names] of lists) {
  test(`${text.trim()} lists ${names.length} tenants, in whatever pieces it is read`, async () => {
    for (const length of [0, 1, 2, 5, 100]) {
      assert.deepEqual([...(await readTenantList(text, length))], names)
    }
  })
}

const others = [
  '',
  ' ',
  'null',
  '"a"',
  '"[]"',
  '{"a":[]}',
  '{"a":"["}]',
  '[',
  ']',
  '][',
  '[][]',
  '[["a"]]',
  '["a"],["b"]',
  '["a"]]',
  '[["a"]',
  '["a",["b","c"],"d"]',
  '["a",]',
  '[,"a"]',
  '["a",,"b"]',
  '[,]',
  '["a" "b"]',
  '["a"',
  '["a","b]',
  '["a\\","b"]',
  '["a"]x',
  'x["a"]',
  '\ufeff["a"]',
  '["a",\ufeff"b"]',
  '["a"]//',
  "['a']",
  '["a",7]',
  '["a",null]',
  '["a",""]',
  '["a","*"]',
  '["a","\\u0000"]',
  '["a","\\u0085"]',
  '["a",{"b":"c"}]',
  `["${'a'.repeat(256)}"]`,
]

for (const text of others) {
  test(`${JSON.stringify(text).slice(0, 40)} is no list of tenants, in whatever pieces`, async () => {
    for (const length of [0, 1, 2, 5, 100]) {
      await assert.rejects(readTenantList(text, length), (error: unknown) => {
        assert.ok(error instanceof Unusable, `${error}`)
        assert.equal(error.message, REASON)
        return true
      })
    }
  })
}

test('what is read in pieces is what is read at one go', async () => {
  const token = fc.constantFrom('[', ']', ',', '"', '\\', ' ', '"a"', '"b,"', '"\\""', '7', '{}')
  const bent = fc.array(token, { maxLength: 12 }).map((tokens) => `[${tokens.join('')}]`)
  const name = fc.string({
    unit: fc.constantFrom('a', ',', '"', '\\', '[', ']', 'ä'),
    maxLength: 5,
  })
  const good = fc.array(name).map((names) => JSON.stringify(names))
  await fc.assert(
    fc.asyncProperty(fc.oneof(bent, good), fc.nat(8), async (text, length) => {
      const expected = atOneGo(text)
      const read = await readTenantList(text, length).then(
        (names) => [...names],
        () => null,
      )
      assert.deepEqual(read, expected)
    }),
    { numRuns: 2000 },
  )
})

function atOneGo(text: string): string[] | null {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) && list.every(isTenantName) ? [...new Set(list)] : null
  } catch {
    return null
  }
}

test('while the largest list is read, the loop turns again and again', async () => {
  const names = Array.from({ length: 950_000 }, (_, i) => `tenant-${1_000_000 + i}`)
  const text = JSON.stringify(names)
  assert.ok(text.length > 15 * 1024 * 1024, `${text.length} characters`)
  let turns = 0
  let isReading = true
  const turn = (): void => {
    turns += 1
    if (isReading) setImmediate(turn)
  }
  setImmediate(turn)
  const list = await readTenantList(text)
  isReading = false
  assert.equal(list.size, names.length)
  assert.ok(turns > 200, `${turns} turns`)
})
