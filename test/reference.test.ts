import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { optionNames } from '../lib/config/options.ts'
import { COMMANDS } from '../lib/entrypoints/cli/main.ts'
import * as main from '../lib/index.ts'
import { guardedApp } from './helpers/app/guarded-app.ts'
import { membersOf } from './helpers/documents/interfaces.ts'
import { headings, linkTargets, listItems, sectionOf } from './helpers/documents/markdown.ts'
import { guide } from './helpers/documents/pages.ts'

/** The name that an item of a list is about. */
function named(page: string, heading: string): string[] {
  return listItems(guide(page), heading).map((item) => /^`([\w.]+)/.exec(item)?.[1] ?? item)
}

const [AUTHORIZATION, EVENTS, STORES] = [
  'reference/authorization',
  'reference/events',
  'reference/stores',
]
const RULES = 'lib/entrypoints/revocation/deny-list-options.ts'
const LIST = 'lib/entrypoints/revocation/deny-list.ts'
const REDIS = 'lib/entrypoints/revocation/redis/redis-deny-list.ts'
const POSTGRES = 'lib/entrypoints/revocation/postgres/postgres-deny-list.ts'
const ENTRY = 'lib/entrypoints/revocation/entry.ts'
const FUNCTION = 'lib/entrypoints/revocation/deny-list-function.ts'

/** A list of a page, and the interfaces whose members it has, in any order. */
const LISTS: readonly [
  page: string,
  heading: string,
  interfaces: [file: string, name: string][],
][] = [
  [
    AUTHORIZATION,
    'Authorization',
    [['lib/identity/authorization/authorization.ts', 'Authorization']],
  ],
  [AUTHORIZATION, 'AuthService', [['lib/service.ts', 'AuthService']]],
  [EVENTS, 'Decisions', [['lib/guard/decision-events.ts', 'DecisionEvent']]],
  [EVENTS, 'Documents', [['lib/platform/http/document-status.ts', 'DocumentEvent']]],
  [EVENTS, 'Logouts', [['lib/entrypoints/revocation/logout/logout-event.ts', 'LogoutEvent']]],
  [
    STORES,
    'Deny lists',
    [
      [RULES, 'DenyListRules'],
      [LIST, 'DenyListOptions'],
      [REDIS, 'RedisDenyListOptions'],
      [POSTGRES, 'PostgresDenyListOptions'],
      [FUNCTION, 'DenyList'],
      [ENTRY, 'DenyEntry'],
    ],
  ],
  [
    STORES,
    'Logouts',
    [['lib/entrypoints/revocation/logout/logout-options.ts', 'BackchannelLogoutOptions']],
  ],
  [
    STORES,
    'Proofs',
    [
      ['lib/entrypoints/revocation/proofs.ts', 'ProofTableOptions'],
      ['lib/entrypoints/revocation/redis/redis-proofs.ts', 'RedisProofsOptions'],
    ],
  ],
]

for (const [page, heading, interfaces] of LISTS) {
  test(`the page ${page} has each member, and each default, under ${heading}`, () => {
    const members = interfaces.flatMap(([file, name]) => [...membersOf(file, name)])
    assert.deepEqual(named(page, heading).sort(), members.map(([name]) => name).sort())
    const items = listItems(guide(page), heading)
    for (const [name, value] of members.filter(([, given]) => given !== undefined)) {
      const told = `\`${name}\` (default \`${value?.replaceAll('`', '')}\`)`
      assert.ok(
        items.some((item) => item.includes(told)),
        told,
      )
    }
  })
}

test('the list of functions has each export of the package', () => {
  const told = named(AUTHORIZATION, 'Functions')
  assert.deepEqual(
    told.sort(),
    Object.keys(main)
      .filter((name) => name !== 'default')
      .sort(),
  )
})

test('the list of figures has each member of stats()', async (t) => {
  const app = await guardedApp(t)
  const { documents, decisions, ...rest } = app.authService.stats()
  const paths = Object.entries({ ...rest, decisions }).flatMap(([group, figures]) =>
    Object.keys(figures).map((name) => `${group}.${name}`),
  )
  assert.ok(Array.isArray(documents), 'documents are a list')
  assert.deepEqual(named(EVENTS, 'Figures').sort(), [...paths, 'documents'].sort())
})

test('the list of flags of each command is that of its --help, and so are the exit codes', () => {
  const page = guide('reference/cli')
  assert.deepEqual(
    headings(page),
    COMMANDS.map(({ name }) => name),
  )
  for (const { name, help } of COMMANDS) {
    const flags = [...help.matchAll(/^ {2}(--[\w-]+(?: [A-Z][A-Z=,]*)?)/gm)].map(([, flag]) => flag)
    const told = listItems(page, name).map((item) => /^`([^`]+)`: \S/.exec(item)?.[1])
    assert.deepEqual(told.sort(), flags.sort(), name)
    assert.match(help, /Exit codes: 0 .*\s1 .*\s2 a wrong command line/s)
  }
})

test('each option has one test that is named for it, and that speaks of it', () => {
  const page = guide('reference/options')
  const items = listItems(page, 'The test of each')
  const told = items.flatMap((item) => [...item.matchAll(/`(\w+)`/g)].map(([, name]) => name))
  assert.deepEqual(told.sort(), [...optionNames()].sort())
  assert.equal(linkTargets(sectionOf(page, 'The test of each')).length, items.length)
  for (const item of items) {
    const [target = ''] = linkTargets(item)
    const file = target.replace('../../../', '')
    assert.equal(existsSync(file), true, file)
    const text = readFileSync(file, 'utf8')
    for (const [, name = ''] of item.matchAll(/`(\w+)`/g)) assert.ok(text.includes(name), item)
  }
})
