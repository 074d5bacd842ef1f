import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import test from 'node:test'
import { createTestAuthority } from '../lib/entrypoints/testing/index.ts'
import { guardedApp } from './helpers/app/guarded-app.ts'
import { anchors, headings, linkTargets, sectionOf } from './helpers/documents/markdown.ts'
import { ALL_PAGES, PAGES } from './helpers/documents/pages.ts'

const README = readFileSync('README.md', 'utf8')

test('the sections stand in the order in which a reader needs them', () => {
  assert.deepEqual(headings(README), [
    'What a route looks like',
    'Install',
    'Quick start',
    'From a token to its rights',
    'What a route declares',
    'Three things to add on the first day',
    'Promises',
    'Guides',
    'Contributing',
    'License',
  ])
})

test('README.md is read in fifteen minutes: at most 300 lines and 20 kB', () => {
  const lines = README.trimEnd().split('\n').length
  assert.ok(lines <= 300, `${lines} lines`)
  const bytes = Buffer.byteLength(README)
  assert.ok(bytes <= 20_000, `${bytes} bytes`)
})

test('each page begins with its subject, and the list of guides leads to it', () => {
  const list = '.github/docs/README.md'
  assert.ok(linkTargets(sectionOf(README, 'Guides')).includes(list), 'README.md leads to the list')
  const linked = linkTargets(readFileSync(list, 'utf8')).map((target) =>
    join(dirname(list), target.split('#')[0] ?? ''),
  )
  for (const page of PAGES.filter((name) => name !== 'README.md' && name !== list)) {
    assert.match(readFileSync(page, 'utf8'), /^# \S.*\n\n/, page)
    assert.ok(linked.includes(page), page)
  }
})

for (const page of ALL_PAGES) {
  const text = readFileSync(page, 'utf8')

  test(`a terminal of 100 columns shows each whole line of ${page}`, () => {
    const shown = text.split('\n').filter((line) => [...line].length > 100)
    assert.deepEqual(shown, [])
  })

  test(`each link of ${page} leads to a page, and to a heading of it`, () => {
    assert.deepEqual(
      linkTargets(text).filter((target) => !isExternal(target) && !resolves(page, target)),
      [],
    )
  })

  test(`each heading of ${page} has one anchor: the site leaves code out of it`, () => {
    assert.deepEqual(
      headings(text).filter((heading) => heading.includes('`')),
      [],
    )
  })
}

function isExternal(target: string): boolean {
  return /^https?:/.test(target)
}

function resolves(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page : normalize(join(dirname(page), path))
  if (!existsSync(file)) return false
  return anchor === undefined || anchors(readFileSync(file, 'utf8')).includes(anchor)
}

test('the links of a page are found, and so is one that leads nowhere', () => {
  assert.deepEqual(linkTargets('see [a](b.md#c) and\n[two\nlines](#d)'), ['b.md#c', '#d'])
  assert.deepEqual(anchors('# A `b`: c\n\n```sh\n# no heading\n```\n\n## A\n\n## A'), [
    'a-b-c',
    'a',
    'a-1',
  ])
  assert.equal(resolves('README.md', '.github/docs/reference/errors.md#what-to-do'), true)
  assert.equal(resolves('README.md', '.github/docs/reference/errors.md#gone'), false)
  const shown = resolves('.github/docs/reference/errors.md', '.github/docs/reference/errors.md')
  assert.equal(shown, false)
})

const picture = sectionOf(README, 'From a token to its rights')

test('the picture of a token and its rights says what the guard answers', async (t) => {
  const claims = [...picture.matchAll(/^ +│ (.*) │/gm)].map(([, line]) => line).join('')
  const { resources } = JSON.parse(`{${claims}}`)
  const authority = await createTestAuthority()
  const app = await guardedApp(t, authority.options)
  const rows = [...picture.matchAll(/^ +GET (\/\S+\/(\S+)) +(\S+) +(\d{3}) /gm)]
  for (const name of new Set(rows.map(([, , segment]) => segment))) {
    const ids = rows.filter(([, , segment]) => segment === name).map(([, , , id = '']) => id)
    assert.equal(new Set(ids).size, 1, name)
    app.get(
      `/:tenant/${name}`,
      { config: { tenant: 'required', require: ids[0] ?? '' } },
      async () => 'served',
    )
  }
  const headers = await authority.headers({ sub: 'dora', resources })
  assert.equal(rows.length, 4)
  for (const [row, url = '', , , status] of rows) {
    const { statusCode } = await app.inject({ url, headers })
    assert.equal(statusCode, Number(status), row)
  }
})
