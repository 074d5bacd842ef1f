import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import test from 'node:test'
import Fastify from 'fastify'
import { Rules } from '../lib/config/issuer-schema.ts'
import { namesOf } from '../lib/config/option-reader.ts'
import { Options } from '../lib/config/options.ts'
import * as certificates from '../lib/entrypoints/certificates/index.ts'
import * as claims from '../lib/entrypoints/claims/index.ts'
import { COMMANDS } from '../lib/entrypoints/cli/main.ts'
import * as introspection from '../lib/entrypoints/introspection/index.ts'
import * as revocation from '../lib/entrypoints/revocation/index.ts'
import * as testing from '../lib/entrypoints/testing/index.ts'
import * as main from '../lib/index.ts'
import { guardedApp } from './helpers/app/guarded-app.ts'
import { exportedTypes, membersOf } from './helpers/documents/interfaces.ts'
import { headings, linkTargets, listItems, sectionOf } from './helpers/documents/markdown.ts'
import { guide } from './helpers/documents/pages.ts'

/** The name that an item of a list is about. */
function named(page: string, heading: string): string[] {
  return listItems(guide(page), heading).map((item) => /^`([\w.]+)/.exec(item)?.[1] ?? item)
}

const AUTHORIZATION = 'reference/authorization'
const CERTIFICATES = 'reference/certificates'
const CLAIMS = 'reference/claims'
const EVENTS = 'reference/events'
const INTROSPECTION = 'reference/introspection'
const OPTIONS = 'reference/options'
const STORES = 'reference/stores'
const TESTING = 'reference/testing'

/** Each entry point of the package, its exports, and the page that has them. */
const ENTRY_POINTS: readonly [path: string, file: string, exports: object, page: string][] = [
  ['.', 'lib/index.ts', main, AUTHORIZATION],
  ['./testing', 'lib/entrypoints/testing/index.ts', testing, TESTING],
  ['./claims', 'lib/entrypoints/claims/index.ts', claims, CLAIMS],
  ['./certificates', 'lib/entrypoints/certificates/index.ts', certificates, CERTIFICATES],
  ['./introspection', 'lib/entrypoints/introspection/index.ts', introspection, INTROSPECTION],
  ['./revocation', 'lib/entrypoints/revocation/index.ts', revocation, STORES],
]

/** A list of a page, and the interfaces whose members it has, in any order. */
const LISTS: readonly [page: string, heading: string, ...interfaces: string[]][] = [
  [AUTHORIZATION, 'Authorization', 'Authorization'],
  [AUTHORIZATION, 'AuthService', 'AuthService'],
  [AUTHORIZATION, 'The options of resourceMetadata', 'ResourceMetadataOptions'],
  [AUTHORIZATION, 'What authenticate takes', 'Credentials'],
  [AUTHORIZATION, 'What actAs takes', 'InternalUser'],
  [AUTHORIZATION, 'What forget takes', 'Invalidation'],
  [AUTHORIZATION, 'What isRevoked receives', 'TokenNames', 'TokenInfo'],
  ['reference/routes', 'An entry of routes', 'ListedRoute'],
  [
    INTROSPECTION,
    'The options of introspection',
    ...['IntrospectionOptions', 'SecretOfClient', 'KeyOfClient'],
  ],
  [INTROSPECTION, 'The options of sharedSecret', 'SharedSecretOptions'],
  [INTROSPECTION, 'The options of seacatExchange', 'SeacatExchangeOptions'],
  [CERTIFICATES, 'The options of certificateFrom', 'CertificateHeaderOptions'],
  [CLAIMS, 'The options of keycloak', 'KeycloakOptions'],
  [CLAIMS, 'The options of auth0', 'Auth0Options'],
  [CLAIMS, 'The options of entraId', 'EntraIdOptions'],
  [CLAIMS, 'The options of cognito', 'CognitoOptions'],
  [TESTING, 'The options of createTestAuthority', 'TestAuthorityOptions'],
  [TESTING, 'A test authority', 'TestAuthority'],
  [TESTING, 'The options of a token', 'TestTokenOptions'],
  [TESTING, 'A user with a bound token', 'BoundUser'],
  [TESTING, 'The options of probe and assertGuarded', 'ProbeOptions'],
  [TESTING, 'An entry of probe', 'ProbedRoute'],
  [EVENTS, 'Decisions', 'DecisionEvent'],
  [EVENTS, 'Documents', 'DocumentEvent'],
  [EVENTS, 'Logouts', 'LogoutEvent'],
  [
    STORES,
    'Deny lists',
    ...['DenyListRules', 'DenyListOptions', 'RedisDenyListOptions', 'PostgresDenyListOptions'],
    ...['DenyList', 'DenyEntry'],
  ],
  [STORES, 'Logouts', 'BackchannelLogoutOptions'],
  [STORES, 'Proofs', 'ProofTableOptions', 'RedisProofsOptions'],
]

for (const [page, heading, ...interfaces] of LISTS) {
  test(`the page ${page} has each member, and each default, under ${heading}`, () => {
    const members = interfaces.flatMap((name) => [...membersOf(name)])
    assert.deepEqual(named(page, heading).sort(), members.map(([name]) => name).sort())
    const items = listItems(guide(page), heading)
    for (const [name, { fallback }] of members.filter(([, { fallback }]) => fallback)) {
      const expected = `\`${name}\` (default \`${fallback?.replaceAll('`', '')}\`)`
      assert.ok(
        items.some((item) => item.includes(expected)),
        expected,
      )
    }
    const options = interfaces.filter((name) => /Options$|OfClient$/.test(name))
    for (const [name, { isOptional }] of options.flatMap((of) => [...membersOf(of)])) {
      const expected = `\`${name}\` (${isOptional ? 'default ' : 'required)'}`
      assert.ok(
        items.some((item) => item.startsWith(expected)),
        expected,
      )
    }
  })
}

test('each entry point has a page with a list of its functions, and of the options of each', () => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  const paths = Object.keys(exports).filter((path) => path !== './package.json')
  assert.deepEqual(
    ENTRY_POINTS.map(([path]) => path),
    paths,
  )
  const listed = LISTS.flatMap(([, , ...interfaces]) => interfaces)
  for (const [, file, exported, page] of ENTRY_POINTS) {
    const functions = Object.keys(exported).filter((name) => name !== 'default')
    assert.deepEqual(named(page, 'Functions').sort(), functions.sort(), page)
    // reference/options has those of the plugin.
    const options = exportedTypes(file).filter((name) => /(?<!Auth)Options$/.test(name))
    assert.deepEqual(
      options.filter((name) => !listed.includes(name)),
      [],
      file,
    )
  }
})

/** The page says beside the list which Node has more algorithms. */
const onAnyNode = (expected: string) => expected.replaceAll(/, ML-DSA-\d\d/g, '')

/** The words of a boot error for each option of a function that is given something else. */
async function expectedBy(call: (options: object) => unknown, names: readonly string[]) {
  const wrong = Object.fromEntries(names.map((name) => [name, new Map()]))
  const message = await Promise.resolve()
    .then(() => call(wrong))
    .then(
      () => assert.fail('no error'),
      (error: unknown) => (error instanceof Error ? error.message : ''),
    )
  const lines = [...message.matchAll(/^(\w+): expected (.*), found .* \(\w+\(\)\)/gm)]
  // The first line of an option is about its value, a later one about what is beside it.
  return new Map(lines.reverse().map(([, name = '', words = '']) => [name, onAnyNode(words)]))
}

const apply =
  (make: (...given: never[]) => unknown, ...before: readonly unknown[]) =>
  (options: object) =>
    Reflect.apply(make, null, [...before, options])

/** Functions that say of each wrong option what they expect. */
const CHECKED: readonly [
  page: string,
  heading: string,
  call: (options: object) => unknown,
  ...interfaces: string[],
][] = [
  [INTROSPECTION, 'The options of introspection', apply(introspection.introspection)],
  [INTROSPECTION, 'The options of sharedSecret', apply(introspection.sharedSecret)],
  [INTROSPECTION, 'The options of seacatExchange', apply(introspection.seacatExchange)],
  [
    CERTIFICATES,
    'The options of certificateFrom',
    apply(certificates.certificateFrom, 'client-cert'),
  ],
  [CLAIMS, 'The options of keycloak', apply(claims.keycloak)],
  [CLAIMS, 'The options of auth0', apply(claims.auth0)],
  [CLAIMS, 'The options of entraId', apply(claims.entraId)],
  [CLAIMS, 'The options of cognito', apply(claims.cognito)],
  [TESTING, 'The options of createTestAuthority', apply(testing.createTestAuthority)],
  [STORES, 'Deny lists', apply(revocation.denyList), 'DenyListRules', 'DenyListOptions'],
  [STORES, 'Deny lists', apply(revocation.redisDenyList), 'RedisDenyListOptions'],
  [STORES, 'Deny lists', apply(revocation.postgresDenyList), 'PostgresDenyListOptions'],
  [STORES, 'Proofs', apply(revocation.proofTable), 'ProofTableOptions'],
  [STORES, 'Proofs', apply(revocation.redisProofs), 'RedisProofsOptions'],
  [STORES, 'Logouts', apply(revocation.backchannelLogout, {})],
  [AUTHORIZATION, 'The options of resourceMetadata', withMetadata],
]

async function withMetadata(options: object): Promise<void> {
  const app = Fastify()
  const { publicKeys, issuer } = await testing.createTestAuthority()
  await app.register(main.tenantAuth, { publicKeys, issuer, resource: 'https://api.test' })
  try {
    await main.resourceMetadata(app, options)
  } finally {
    await app.close()
  }
}

const plain = (text: string) => text.replaceAll('`', '')

/** Whether an item says of an option, first of all, what is expected. */
function saysFirst(item: string, name: string, expected: string): boolean {
  const [place = '', text = ''] = item.split(/(?<=^\w+ \([^)]*\)): /)
  const isEnd = ['.', ','].includes(text.charAt(expected.length))
  return place.startsWith(`${name} (`) && text.startsWith(expected) && isEnd
}

for (const [page, heading, call, ...interfaces] of CHECKED) {
  test(`the page ${page} says under ${heading} what a value must be`, async () => {
    const items = listItems(guide(page), heading).map(plain)
    const names = interfaces.flatMap((name) => [...membersOf(name).keys()])
    const words = await expectedBy(call, names.length > 0 ? names : named(page, heading))
    assert.ok(words.size > 0, 'it expects something')
    assert.deepEqual(notSaid(items, words), [])
  })
}

const notSaid = (items: readonly string[], words: Iterable<[name: string, expected: string]>) =>
  [...words].filter(([name, words]) => !items.some((item) => saysFirst(item, name, words)))

test('the page of options says what a value of each must be, and each member of an issuer', () => {
  const page = guide(OPTIONS)
  const expectedOf = (schema: object) => onAnyNode(String(Object(schema).expected))
  const words = Object.entries(Options.properties).map(
    ([name, schema]) => [name, expectedOf(schema)] as const,
  )
  const listed = listItems(page, 'What a value must be').flatMap((item) => {
    const [, expected = '', names = ''] = /^(.*?): ((?:`\w+`(?:, )?)+)$/.exec(item) ?? []
    return [...names.matchAll(/\w+/g)].map(([name]) => [name, plain(expected)] as const)
  })
  assert.deepEqual(new Map(listed), new Map(words))
  assert.equal(listed.length, words.length)
  const members = Object.entries(Rules.properties)
  assert.deepEqual(
    named(OPTIONS, 'An entry of issuers'),
    members.map(([name]) => name),
  )
  const items = listItems(page, 'An entry of issuers').map(plain)
  const ofMembers = members.map(([name, of]): [string, string] => [name, expectedOf(of)])
  assert.deepEqual(notSaid(items, ofMembers), [])
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
    const listed = listItems(page, name).map((item) => /^`([^`]+)`: \S/.exec(item)?.[1])
    assert.deepEqual(listed.sort(), flags.sort(), name)
    assert.match(help, /Exit codes: 0 .*\s1 .*\s2 a wrong command line/s)
  }
})

test('each option has one test that is named for it, and that speaks of it', () => {
  const page = guide('reference/options')
  const items = listItems(page, 'The test of each')
  const listed = items.flatMap((item) => [...item.matchAll(/`(\w+)`/g)].map(([, name]) => name))
  assert.deepEqual(listed.sort(), [...namesOf(Options.properties)].sort())
  assert.equal(linkTargets(sectionOf(page, 'The test of each')).length, items.length)
  for (const item of items) {
    const [target = ''] = linkTargets(item)
    const file = target.replace('../../../', '')
    assert.equal(existsSync(file), true, file)
    const text = readFileSync(file, 'utf8')
    for (const [, name = ''] of item.matchAll(/`(\w+)`/g)) assert.ok(text.includes(name), item)
  }
})
