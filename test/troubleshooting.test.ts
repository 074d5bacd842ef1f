import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { headings, listItems } from './helpers/documents/markdown.ts'
import { guide } from './helpers/documents/pages.ts'
import { PUT_IN, SourceTexts } from './helpers/documents/reasons.ts'

const page = guide('troubleshooting')
const sections = headings(page).filter((name) => /^\d|^Keys|^Logouts/.test(name))
const atBoot = ['The boot warns']

/** What an item is about: the code in front of its colon. */
function subjects(headings: readonly string[]): string[] {
  return headings
    .flatMap((heading) => listItems(page, heading))
    .flatMap(
      (item) => /^(?:`[^`]+`(?:, )?)+(?=: )/.exec(item)?.[0].match(/[^`]+(?=`(?:, |$))/g) ?? [],
    )
}

const listed = subjects(sections)
const code = new SourceTexts('lib', (name) => !name.startsWith('entrypoints/cli'))

/**
 * The page has it as the source does. Where the page lets an error, a kind of key or another reason
 * differ, any will do.
 */
function isListed(reason: string, texts: readonly string[]): boolean {
  return texts.some(
    (text) => text === reason || (MAY_DIFFER.test(text) && matches(reason, text.split(PUT_IN))),
  )
}

const MAY_DIFFER = /\(…\)|is …$|document: …$/

function matches(reason: string, [start = '', end = '']: readonly string[]): boolean {
  return reason.startsWith(start) && reason.endsWith(end)
}

const REASONS: readonly [what: string, reasons: string[], atLeast: number][] = [
  ['a refusal', code.of(/^(?:tokenRefusal|ERR_AUTH_(?!CONFIG|ROUTE)\w+)$/), 120],
  ['a function without an answer', code.of(/^refused?$/, /platform\/callbacks/), 5],
  [
    'a document without use',
    code
      .of(/^(?:Unusable|FetchFailure)$/, /platform\/http|identity\/(?:jwks|tenants)/)
      .filter((reason) => !reason.includes(': expected ')),
    25,
  ],
  ['a logout whose body cannot be read', bodyReasons(), 3],
]

/** Fastify's own errors, by whose codes a table has the reasons. */
function bodyReasons(): string[] {
  const file = 'lib/entrypoints/revocation/backchannel-logout.ts'
  const rows = readFileSync(file, 'utf8').matchAll(/'FST_ERR_\w+', \[\d{3}, '([^']+)'/g)
  return [...rows].map(([, reason = '']) => reason)
}

for (const [what, reasons, atLeast] of REASONS) {
  test(`each reason of ${what} has a cure`, () => {
    assert.ok(reasons.length >= atLeast, `${reasons.length} are found`)
    const shown = reasons.filter((reason) => !isListed(reason, listed))
    assert.deepEqual(shown, [])
  })
}

test('each warning at boot has a cure', () => {
  const warnings = [
    ...code.of(/^warn$/, /guard\/boot-audit|resource-metadata/),
    ...code.of(/^push$/, /config\/boot-warnings/),
  ].filter((warning) => warning !== `tenant auth: ${PUT_IN}`)
  assert.ok(warnings.length >= 15, `${warnings.length} are found`)
  // The page has how each begins, or what is in it.
  const texts = subjects(atBoot)
  const shown = warnings.filter((warning) => !texts.some((text) => warning.includes(text)))
  assert.deepEqual(shown, [])
})

test('each code of our own that stands in brackets behind a reason has a cure', () => {
  const codes = new Set(
    readdirSync('lib/entrypoints', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => readFileSync(`lib/entrypoints/${name}`, 'utf8').split('\n'))
      .flatMap((line) => line.match(/\bERR_(?:DENY_LIST|INTROSPECTION)_\w+/g) ?? []),
  )
  assert.ok(codes.size >= 11, `${codes.size} are found`)
  const shown = [...codes].filter((each) => !listed.some((text) => text.includes(`(${each})`)))
  assert.deepEqual(shown, [])
})

test('each line about a deny list has a cure', () => {
  const lines = code.of(/^logFailure$/, /revocation/).filter((line) => line.startsWith('the deny'))
  assert.ok(lines.length >= 2, `${lines.length} are found`)
  const shown = lines.filter((line) => !page.includes(line.replace(/\([^)]*\)$/, '(…)')))
  assert.deepEqual(shown, [])
})

test('the page names no reason that the code does not have', () => {
  const sources = readdirSync('lib', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(`lib/${name}`, 'utf8'))
    .join('\n')
  const known = REASONS.flatMap(([, reasons]) => reasons)
  const gone = [...listed, ...subjects(atBoot)].filter(
    (text) =>
      !known.some((reason) => isListed(reason, [text])) &&
      !text.split(/[…()]|DPoP proof: | failed/).every((part) => sources.includes(part.trim())),
  )
  assert.deepEqual(gone, [])
})
