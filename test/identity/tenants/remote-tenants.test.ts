import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ERR_AUTH_TENANTS_UNAVAILABLE } from '../../../lib/errors.ts'
import { RemoteTenants, readTenantList } from '../../../lib/identity/tenants/remote-tenants.ts'
import { isTenantName } from '../../../lib/identity/tenants/tenant-name.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'
import { Unusable } from '../../../lib/platform/http/failure.ts'
import { ageByDate } from '../../helpers/processes/age-by-date.ts'
import { until } from '../../helpers/processes/until.ts'
import { FRESHNESS } from '../../helpers/servers/controlled-document.ts'
import { json, tenantServer } from '../../helpers/servers/tenant-server.ts'

test('the state of the list is told, before it came, once it is there, and when it fails', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 0 })
  ageByDate(t)
  const server = await tenantServer('["acme"]')
  const failures: string[] = []
  const events = { onFailure: (reason: string) => failures.push(reason) }
  const tenants = new RemoteTenants(server.url, { ...FRESHNESS, timeout: 60 }, events)
  t.after(() => tenants.close())
  assert.deepEqual(tenants.state(), { state: 'none', age: null, failure: null })
  tenants.open()
  assert.equal(await tenants.has('acme', new PendingRequests()), true)
  assert.deepEqual(tenants.state(), { state: 'fresh', age: 0, failure: null })
  server.answer = json('', 500)
  t.mock.timers.setTime(600_000)
  assert.equal(tenants.isReady, true)
  await until(() => failures.length === 1)
  const failure = 'answered with status 500'
  assert.deepEqual(tenants.state(), { state: 'stale', age: 600, failure })
})

/** A list that is padded to a number of bytes. */
const listOf = (bytes: number) => '["acme"]'.padEnd(bytes)

test('a list may have 16 MiB, and is looked at without a wait once it is there', async (t) => {
  const server = await tenantServer(listOf(16 * 1024 * 1024))
  const tenants = new RemoteTenants(server.url, { ...FRESHNESS, timeout: 60 }, { onFailure() {} })
  t.after(() => tenants.close())
  tenants.open()
  const later = tenants.has('acme', new PendingRequests())
  assert.equal(later instanceof Promise, true)
  assert.equal(await later, true)
  assert.equal(tenants.has('acme', new PendingRequests()), true)
  assert.equal(tenants.has('other', new PendingRequests()), false)
})

test('a list of one byte more is none, and who asks is told when to ask again', async (t) => {
  const server = await tenantServer(listOf(16 * 1024 * 1024 + 1))
  const failures: string[] = []
  const events = { onFailure: (reason: string) => failures.push(reason) }
  const tenants = new RemoteTenants(server.url, { ...FRESHNESS, timeout: 60 }, events)
  t.after(() => tenants.close())
  tenants.open()
  await assert.rejects(
    async () => tenants.has('acme', new PendingRequests()),
    (error) =>
      error instanceof ERR_AUTH_TENANTS_UNAVAILABLE &&
      error.retryAfter > 0 &&
      error.retryAfter <= FRESHNESS.retry,
  )
  assert.deepEqual(failures, ['the answer is too large'])
})

test('closing ends the fetch that is under way', async (_t) => {
  const server = await tenantServer('[]')
  let isCut = false
  server.answer = (response) => {
    response.write('[')
    response.once('close', () => {
      isCut = true
    })
  }
  const tenants = new RemoteTenants(server.url, { ...FRESHNESS, timeout: 60 }, { onFailure() {} })
  tenants.open()
  await until(() => server.count === 1)
  tenants.close()
  await until(() => isCut)
})

const REASON = 'the answer is no JSON array of tenant names'

const lists: [text: string, names: string[]][] = [
  ['[]', []],
  [' [ ] \n', []],
  ['["a"]', ['a']],
  ['\t[ "a" ,\r\n"b" ]', ['a', 'b']],
  ['["a","a"]', ['a']],
  ['[",","]","[","\\"","\\\\",",\\",\\""]', [',', ']', '[', '"', '\\', ',","']],
  ['["\\u0061","ä","🦝"]', ['a', 'ä', '🦝']],
  [`["${'\\u0061'.repeat(255)}"]`, ['a'.repeat(255)]],
]

for (const [text, names] of lists) {
  test(`${text.trim().slice(0, 40)} lists ${names.length} tenants, read in pieces of any size`, async () => {
    for (const length of [0, 1, 2, 5, 100]) {
      assert.deepEqual([...(await readTenantList(text, length))], names)
    }
  })
}

const others = [
  '',
  'null',
  '"[]"',
  '{"a":[]}',
  '["a"]]',
  '["a",["b","c"],"d"]',
  '["a",]',
  '["a"',
  '["a","b]',
  '["a\\","b"]',
  '["a"]x',
  '\ufeff["a"]',
  '["a"]//',
  "['a']",
  '["a","*"]',
  '["a","\\u0000"]',
  '["a","\\u0085"]',
  `["${'a'.repeat(256)}"]`,
  `["${'\\u0061'.repeat(256)}"]`,
  '["a\\',
  '["\\x"]',
]

for (const text of others) {
  test(`${JSON.stringify(text).slice(0, 40)} is not a list of tenants, in pieces of any size`, async () => {
    for (const length of [0, 1, 2, 5, 100]) {
      await assert.rejects(readTenantList(text, length), (error: unknown) => {
        assert.ok(error instanceof Unusable, `${error}`)
        assert.equal(error.message, REASON)
        return true
      })
    }
  })
}

test('reading in pieces gives the same as reading at once', async () => {
  const token = fc.constantFrom(
    ...['[', ']', ',', '"', '\\', ' ', '"a"', '"b,"', '"\\""', '7', '{}'],
    ...['{', '}', ':', '\n', '\u00a0', '\ufeff', '\\u0061', '"*"', `"${'b'.repeat(256)}"`],
  )
  const bent = fc
    .tuple(fc.constantFrom('[', ' [', ''), fc.array(token, { maxLength: 12 }))
    .map(([start, tokens]) => `${start}${tokens.join('')}]`)
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

const LARGE = 15_000_000

/** Texts of 15 MB that JSON.parse would read for seconds, or in one piece. */
const HOSTILE: readonly (readonly [what: string, text: string])[] = [
  ['nested lists', '['.repeat(LARGE)],
  ['nested lists that are closed', '['.repeat(LARGE / 2) + ']'.repeat(LARGE / 2)],
  ['nested lists behind a name', `["a",${'['.repeat(LARGE)}`],
  ['nested objects', `[${'{"a":'.repeat(LARGE / 5)}`],
  ['nested objects before the list', `${'{"a":'.repeat(LARGE / 5)}[`],
  ['nested lists behind the list', `["a"]${'['.repeat(LARGE)}]`],
  ['numbers', `[${'1,'.repeat(LARGE / 2)}1]`],
  ['one string', `["${'a'.repeat(LARGE)}"]`],
  ['one string of escapes', `["${'\\'.repeat(LARGE)}"]`],
  ['one string without an end', `["${'a'.repeat(LARGE)}`],
]

for (const [what, text] of HOSTILE) {
  test(`15 MB of ${what} are refused before more than one name of them is parsed`, async (t) => {
    const parse = t.mock.method(JSON, 'parse')
    await assert.rejects(readTenantList(text), Unusable)
    const lengths = parse.mock.calls.map((call) => String(call.arguments[0]).length)
    assert.equal(Math.max(0, ...lengths) <= 6 * 255 + 2, true, `${lengths}`)
    assert.equal(lengths.length <= 1, true, `${lengths.length} calls`)
  })
}

const NAMES = Array.from({ length: 950_000 }, (_, i) => `tenant-${1_000_000 + i}`)

const LARGEST: readonly (readonly [what: string, text: string, size: number])[] = [
  ['the largest list', JSON.stringify(NAMES), NAMES.length],
  ['a list of blanks', `["a",${' '.repeat(LARGE)}"b"]`, 2],
  ['a list behind blanks', `${'\n'.repeat(LARGE)}["a"]`, 1],
  ['a list before blanks', `["a"]${' '.repeat(LARGE)}`, 1],
]

for (const [what, text, size] of LARGEST) {
  test(`while ${what} is read, the event loop turns again and again`, async () => {
    assert.ok(text.length >= LARGE, `${text.length} characters`)
    await assertTurning(text, size)
  })
}

async function assertTurning(text: string, size: number): Promise<void> {
  let turns = 0
  let isReading = true
  const turn = (): void => {
    turns += 1
    if (isReading) setImmediate(turn)
  }
  setImmediate(turn)
  const list = await readTenantList(text)
  isReading = false
  assert.equal(list.size, size)
  assert.ok(turns > 200, `${turns} turns`)
}
