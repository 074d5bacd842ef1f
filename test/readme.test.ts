import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import { INI_KEYS } from '../lib/config/ini-values.ts'
import { loadSettings } from '../lib/config/load-settings.ts'
import { namesOf } from '../lib/config/option-reader.ts'
import { type OptionName, Options } from '../lib/config/options.ts'
import { readAuthorityOptions } from '../lib/entrypoints/cli/authority.ts'
import { readDoctorOptions } from '../lib/entrypoints/cli/doctor/doctor.ts'
import { readPolicyOptions } from '../lib/entrypoints/cli/policy/policy-command.ts'
import { AuthService, errors, type RouteDeclaration } from '../lib/index.ts'
import { listed } from './examples/several-issuers.ts'
import { guardedApp } from './helpers/app/guarded-app.ts'
import {
  codeBlocks,
  dedent,
  listItems,
  sectionOf,
  tableRows,
} from './helpers/documents/markdown.ts'
import { PAGE_APPLICATIONS } from './helpers/documents/page-application.ts'
import { guide, PAGES } from './helpers/documents/pages.ts'
import { tempFolder } from './helpers/documents/temp-folder.ts'

const README = readFileSync('README.md', 'utf8')
const CONTRIBUTING = readFileSync('.github/CONTRIBUTING.md', 'utf8')
const ALL = PAGES.map((page) => readFileSync(page, 'utf8')).join('\n')
const blocks = codeBlocks(ALL)

const SPECIFIERS = [
  ["'../../lib/entrypoints/certificates/index.ts'", "'fastify-tenant-auth/certificates'"],
  ["'../../lib/index.ts'", "'fastify-tenant-auth'"],
  ["'../../lib/entrypoints/testing/index.ts'", "'fastify-tenant-auth/testing'"],
  ["'../../lib/entrypoints/claims/index.ts'", "'fastify-tenant-auth/claims'"],
  ["'../../lib/entrypoints/certificates/index.ts'", "'fastify-tenant-auth/certificates'"],
  ["'../../lib/entrypoints/introspection/index.ts'", "'fastify-tenant-auth/introspection'"],
  ["'../../lib/entrypoints/revocation/index.ts'", "'fastify-tenant-auth/revocation'"],
] as const

/** An example as a reader has it who has installed the package. */
function exampleFile(file: string): string {
  return SPECIFIERS.reduce(
    (text, [ours, theirs]) => text.replaceAll(ours, theirs),
    readFileSync(file, 'utf8'),
  )
}

function holdsExcerpt(text: string, excerpt: string): boolean {
  const lines = text.trimEnd().split('\n')
  const { length } = excerpt.trimEnd().split('\n')
  return lines.some(
    (_line, start) => dedent(lines.slice(start, start + length).join('\n')) === excerpt.trimEnd(),
  )
}

/** Files of a reader's own. The tests of these pages write and run them. */
const builtFromPage = new Set(
  [...PAGE_APPLICATIONS, 'guides/nestjs'].flatMap((name) =>
    codeBlocks(guide(name)).flatMap(({ file, text }) => (file?.startsWith('src/') ? [text] : [])),
  ),
)

for (const { file, text } of blocks.filter(({ language }) => language === 'ts')) {
  if (builtFromPage.has(text)) continue
  test(`the code of ${file} stands on its page as it is, and a test runs it`, () => {
    assert.ok(file !== undefined, `no file is named for: ${text}`)
    assert.equal(holdsExcerpt(exampleFile(file), text), true)
    assert.equal(existsSync(file.replace(/(?:\.test)?\.ts$/, '.test.ts')), true)
  })
}

test('every block of code is in a language that is checked here, or sql', () => {
  const languages = new Set(blocks.map(({ language }) => language))
  // test/entrypoints/revocation/postgres/table-source.test.ts runs the block of SQL.
  assert.deepEqual([...languages].sort(), ['ini', 'json', 'sh', 'sql', 'ts', 'yaml'])
})

test('the workflow checks what --write wrote, with the options that the command has', () => {
  const workflow: { jobs: { policy: { steps: { run?: string }[] } } } = parse(
    onlyBlock('yaml', guide('guides/policy-lock')),
  )
  const shown = codeBlocks(`${README}\n${guide('guides/policy-lock')}`)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.split('\n'))
    .filter((line) => line.startsWith('npx fastify-tenant-auth policy '))
  const runs = workflow.jobs.policy.steps.flatMap(({ run }) => run ?? [])
  const check = runs.at(-1) ?? ''
  assert.deepEqual(runs, ['npm ci', check])
  assert.equal(shown.includes(check), true)
  assert.equal(shown.length, 6)
})

test('the command takes each line of it that a page shows', () => {
  const shown = [...codeBlocks(ALL).filter(({ language }) => language === 'sh')]
    .flatMap(({ text }) => text.replaceAll(/\\\n */g, '').split('\n'))
    .flatMap((line) => /npx fastify-tenant-auth ([^<>&)]+)/.exec(line)?.[1]?.trim() ?? [])
  for (const line of shown) {
    const [command, ...args] = line.split(' ')
    if (command === 'policy') assert.deepEqual(readPolicyOptions(args).program, ['node', 'app.js'])
    else if (command === 'doctor') assert.ok(readDoctorOptions(args).name, line)
    else assert.ok(command === 'authority' && readAuthorityOptions(args).users.length > 0, line)
  }
  assert.ok(shown.length >= 12, `${shown.length} lines`)
})

function onlyBlock(language: string, page: string): string {
  const [block, ...others] = codeBlocks(page).filter((each) => each.language === language)
  assert.ok(block && others.length === 0, 'one block')
  return block.text
}

const folder = tempFolder()

test('the INI file is one that the service takes, and says what it seems to say', () => {
  const configFile = folder.write(onlyBlock('ini', guide('reference/options')), 'app.ini')
  new AuthService({ configFile }).close()
  const { settings, given } = loadSettings({ configFile })
  assert.deepEqual(
    Object.fromEntries(Object.entries(settings).filter(([name]) => given.has(asOption(name)))),
    {
      publicKeysUrl: 'https://login.example.com/openidconnect/public_keys',
      issuer: ['https://login.example.com'],
      audience: ['lunch', 'lunch-admin'],
      superuserResource: 'authz:superuser',
      keysMaxAge: 300,
      devUserInfoPath: join(folder.path, 'dev-userinfo.json'),
      tenants: ['lazy-raccoon', 'busy-beaver'],
    },
  )
})

test('the INI file of the quick start names the server and the API, and nothing else', () => {
  const configFile = folder.write(onlyBlock('ini', README), 'first.ini')
  const { settings, given } = loadSettings({ configFile })
  assert.deepEqual([...given].sort(), ['audience', 'issuer'])
  assert.deepEqual(settings.issuer, ['https://login.example.com'])
  assert.deepEqual(settings.audience, ['lunch'])
})

test('the INI file of several issuers says what the list in code says', () => {
  const configFile = folder.write(onlyBlock('ini', guide('guides/several-issuers')), 'issuers.ini')
  const { issuers } = loadSettings({ configFile })
  const inCode = loadSettings(listed).issuers
  assert.ok(typeof issuers !== 'function' && typeof inCode !== 'function', 'two lists')
  assert.deepEqual(
    issuers.map(({ name }) => name),
    ['own', 'acme'],
  )
  assert.deepEqual(
    issuers.map((entry, index) => ({ ...entry, name: inCode[index]?.name })),
    inCode,
  )
})

function asOption(name: string): OptionName {
  const option = namesOf(Options.properties).find((each) => each === name)
  assert.ok(option, name)
  return option
}

test('the mock user is one that dev mode takes, from where the INI file names it', () => {
  const configFile = folder.write(onlyBlock('ini', guide('reference/options')), 'dev.ini')
  folder.write('{}', 'dev-userinfo.json')
  assert.throws(() => new AuthService({ configFile, devMode: true }), /devUserInfoPath/)
  folder.write(onlyBlock('json', guide('guides/dev-mode')), 'dev-userinfo.json')
  new AuthService({ configFile, devMode: true }).close()
})

/** Defaults that are more than a single value. */
const DEFAULTS_IN_WORDS: { readonly [name in OptionName]?: string } = {
  issuer: 'not checked',
  audience: 'not checked',
  algorithms: 'all asymmetric ones',
  tokenTypes: '`JWT`, `at+jwt`, or no `typ`',
  superuserResource: 'none',
  implies: 'none',
  checks: 'none',
  publicUrl: 'the origin of `resource`',
  proofSeen: 'a table of this process',
  clientCertificate: 'that of the TLS connection',
  resource: 'none',
  tenants: 'not checked',
  publicKeys: 'none',
  issuers: 'none',
  opaqueToken: 'none',
  resourcesOf: 'none',
  mapClaims: 'none',
  isRevoked: 'none',
  resolveTenant: 'none',
  tokenFrom: 'none',
  logBindings: 'none',
}

function defaultOf(name: OptionName): string {
  const value: unknown = Options.properties[name]['default']
  if (typeof value === 'boolean') return value ? '`yes`' : '`no`'
  if (typeof value === 'string' || typeof value === 'number') return `\`${value}\``
  return DEFAULTS_IN_WORDS[name] ?? 'unknown'
}

function iniKeyOf(name: OptionName): string {
  if (name === 'tenants') {
    const [ids, url] = INI_KEYS.tenants.keys()
    return `\`[tenants] ${ids}\` or \`${url}\``
  }
  if (name === 'issuers') return '`[auth.NAME]`'
  if (name === 'implies') return 'section `[implies]`'
  const [key] = [...INI_KEYS.auth].find(([, option]) => option === name) ?? []
  return key === undefined ? 'code only' : `\`${key}\``
}

test('the list of options is the schema: names, INI keys and defaults, each with its meaning', () => {
  const documented = listItems(guide('reference/options'))
    .filter((item) => / default /.test(item))
    .map((item) => /^(`\w+` \(.+, default .+?\)): \S/.exec(item)?.[1] ?? item)
  const options = namesOf(Options.properties).map(
    (name) => `\`${name}\` (${iniKeyOf(name)}, default ${defaultOf(name)})`,
  )
  assert.deepEqual(documented.sort(), options.sort())
})

const REQUEST_ERRORS = [
  new errors.ERR_AUTH_TOKEN_MISSING(),
  new errors.ERR_AUTH_TOKEN_INVALID(),
  new errors.ERR_AUTH_TENANT_FORBIDDEN(),
  new errors.ERR_AUTH_RESOURCE_MISSING(['menu:read']),
  new errors.ERR_AUTH_STEP_UP_REQUIRED({ acr: ['phr'], maxAge: 300 }),
  new errors.ERR_AUTH_TENANT_MISSING(),
  new errors.ERR_AUTH_TENANT_INVALID(),
  new errors.ERR_AUTH_TENANT_UNKNOWN(),
  new errors.ERR_AUTH_TENANT_SUSPENDED(),
  new errors.ERR_AUTH_NOT_PERMITTED(),
  new errors.ERR_AUTH_KEYS_UNAVAILABLE(1),
  new errors.ERR_AUTH_TENANTS_UNAVAILABLE(1),
  new errors.ERR_AUTH_REVOCATION_UNAVAILABLE(1),
  new errors.ERR_AUTH_ISSUERS_UNAVAILABLE(1),
  new errors.ERR_AUTH_INTROSPECTION_UNAVAILABLE(1),
  new errors.ERR_AUTH_RESOURCES_UNAVAILABLE(1),
  new errors.ERR_AUTH_PROOFS_UNAVAILABLE(1),
  new errors.ERR_AUTH_CHECK_UNAVAILABLE(1),
]
const BOOT_ERRORS = [new errors.ERR_AUTH_CONFIG_INVALID(''), new errors.ERR_AUTH_ROUTE_INVALID('')]

test('the list of errors is the classes of lib/errors.ts: code, status and challenge', async (t) => {
  const app = await guardedApp(t)
  app.get('/:index', { config: { noauth: true } }, async ({ params }) => {
    throw REQUEST_ERRORS[Number(Object(params).index)]
  })
  const headersOf = async (error: (typeof REQUEST_ERRORS)[number]) =>
    (await app.inject(`/${REQUEST_ERRORS.indexOf(error)}`)).headers
  const items = listItems(guide('reference/errors'), 'The list')
  const documented = items.map((item) => {
    const [, code, status] = /^`(\w+)` \((\w+)\): \S/.exec(item) ?? []
    const [, challenge = ''] = /Challenge: `(.+)`$/.exec(item) ?? []
    return [code, status, challenge]
  })
  const ofRequests = await Promise.all(
    REQUEST_ERRORS.map(async (error) => {
      const { 'www-authenticate': challenge } = await headersOf(error)
      return [error.code, String(error.statusCode), challenge ?? '']
    }),
  )
  const atBoot = BOOT_ERRORS.map(({ code }) => [code, 'boot', ''])
  assert.deepEqual(documented, [...ofRequests, ...atBoot])
  assert.deepEqual(
    [...REQUEST_ERRORS, ...BOOT_ERRORS].map(({ code }) => code).sort(),
    Object.keys(errors)
      .filter((name) => name !== 'AuthError')
      .sort(),
  )
  for (const error of REQUEST_ERRORS) {
    const item = items.find((each) => each.startsWith(`\`${error.code}\``))
    const saysSo = item?.includes('`Retry-After`')
    assert.equal(saysSo, error.retryAfter !== null, error.code)
  }
})

test('each error has a cure', () => {
  const cures = listItems(guide('reference/errors'), 'What to do')
  assert.deepEqual(
    cures.map((item) => /^`(\w+)`: \S/.exec(item)?.[1] ?? item),
    [...REQUEST_ERRORS, ...BOOT_ERRORS].map(({ code }) => code),
  )
})

test('the list of declarations has every key, and every word that a key may have', () => {
  const keys = {
    noauth: true,
    tenant: true,
    userInfo: true,
    resources: true,
    authorization: true,
    require: true,
    guests: true,
    suspended: true,
    late: true,
    check: true,
    confirmation: true,
    stepUp: true,
  } satisfies Record<keyof RouteDeclaration, true>
  const lists = {
    table: tableRows(README, 'What a route declares', 'key').map(([cell = '']) => cell),
    reference: listItems(guide('reference/routes'), 'What is declared'),
  }
  for (const [name, items] of Object.entries(lists)) {
    const documented = items.flatMap((item) => /^`(\w+: [^`]+)`(?:$|\.|,)/.exec(item)?.[1] ?? [])
    assert.deepEqual(
      [...new Set(documented.map((each) => each.split(':')[0]))],
      Object.keys(keys),
      name,
    )
    for (const word of ["tenant: 'required'", "tenant: 'optional'"]) {
      assert.ok(documented.includes(word), word)
    }
  }
})

const [MAP] = codeBlocks(sectionOf(CONTRIBUTING, 'The map of the code'))

test('the map names every room and door of lib/, and no other', () => {
  const mapped = new Set(mappedPaths(MAP?.text ?? ''))
  const there = new Set(pathsBelow('lib'))
  assert.deepEqual(
    {
      missing: [...there].filter((path) => !mapped.has(path)),
      gone: [...mapped].filter((path) => !there.has(path)),
    },
    { missing: [], gone: [] },
  )
})

test('the map says of each room, and of each door, what it is', () => {
  const silent = (MAP?.text ?? '').split('\n').filter((line) => /^ {2}\S+(?:\/|\.ts) *$/.test(line))
  assert.deepEqual(silent, [])
})

/** The files of `lib/` itself, and all folders. */
function pathsBelow(folder: string, isTop = true): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return [`${path}/`, ...pathsBelow(path, false)]
    return isTop ? [path] : []
  })
}

/** Of a tree with a line for each folder and for each file at its top. */
function mappedPaths(map: string): string[] {
  const folders: string[] = []
  return map.split('\n').flatMap((line) => {
    const depth = (line.length - line.trimStart().length) / 2
    const [, folder] = /^ *([\w-]+)\/(?: |$)/.exec(line) ?? []
    const inside = folders.slice(0, depth).join('/')
    if (folder !== undefined) {
      folders.splice(depth, folders.length, folder)
      return depth === 0 ? [] : [`${inside}/${folder}/`]
    }
    const [, file] = /^ *([\w-]+\.ts) /.exec(line) ?? []
    return file === undefined ? [] : [`${inside}/${file}`]
  })
}

const manifest: unknown = JSON.parse(readFileSync('package.json', 'utf8'))
const packageFile: Record<
  'scripts' | 'dependencies' | 'peerDependenciesMeta',
  Record<string, string>
> = JSON.parse(readFileSync('package.json', 'utf8'))

/** These need a browser or a database, or take long. */
const LONGER_CHECKS = [
  ...['test:rest', 'test:e2e', 'test:all', 'test:deep', 'test:mutation', 'coverage', 'soak'],
  ...['bench', 'bench:growth'],
]

/** These check nothing. */
const HELP = ['start', 'fix', 'watch', 'docs', 'notes', 'prepack']

test('the commands of the pages exist, and so do the files that they name', () => {
  const commands = [...ALL.matchAll(/\bnpm (?:run )?(start|test)\b/g)].map(([, name = '']) => name)
  assert.deepEqual(
    commands.filter((name) => !(name in packageFile.scripts)),
    [],
  )
  assert.match(sectionOf(README, 'Contributing'), /`npm ci && npm start`.*`npm test`/s)
  for (const [, path] of `${ALL}${CONTRIBUTING}`.matchAll(/`((?:lib|test)\/[\w./-]*)`/g)) {
    assert.ok(existsSync(path ?? ''), path)
  }
  assert.equal(existsSync('LICENSE'), true)
})

test('npm test and test:rest run every check, except those that CONTRIBUTING.md names', () => {
  const { scripts } = packageFile
  const run = (script: string): string[] => [
    script,
    ...[...(scripts[script] ?? '').matchAll(/npm run ([\w:]+)/g)].flatMap(([, name = '']) =>
      run(name),
    ),
  ]
  const checked = [...run('test'), ...run('test:rest'), ...run('all')]
  const others = Object.keys(scripts).filter((name) => !checked.includes(name))
  const named = [...HELP, ...LONGER_CHECKS].filter((name) => name !== 'test:rest')
  assert.deepEqual(others.sort(), named.sort())
})

test('each test file is run once, by npm test, test:rest or test:e2e, and .ci/run runs all', () => {
  const { scripts } = packageFile
  const groupFolder = tempFolder().path
  execFileSync(process.execPath, ['--import', 'tsx', 'test/build/group-tests.ts', groupFolder])
  const groups = readdirSync(groupFolder)
  assert.deepEqual(
    groups.filter((name) => !/^(?:unit|rest|e2e)-\d{3}\.js$/.test(name)),
    [],
  )
  const run = groups
    .flatMap((name) => [
      ...readFileSync(join(groupFolder, name), 'utf8').matchAll(/ended\('(.*?)'\)/g),
    ])
    .map(([, file]) => file)
  const all = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(?:test|e2e)\.ts$/.test(name),
  )
  assert.deepEqual(run.sort(), all.sort())
  const groupsOf = (script: string) =>
    [...(scripts[script] ?? '').matchAll(/ \.compiled\/groups\/(\w+)-\*\.js/g)].map(
      ([, name]) => name,
    )
  for (const [script, names] of [
    ['unit', ['unit']],
    ['rest', ['rest']],
    ['test:e2e', ['e2e']],
    ['all', ['e2e', 'rest']],
  ] as const) {
    if (script !== 'all') assert.match(scripts[script] ?? '', /^npm run compile && /)
    assert.deepEqual(groupsOf(script), names, script)
  }
  const [, checks = ''] = (scripts['test:rest'] ?? '').split('npm run rest && ')
  assert.equal(scripts['test:all'], `npm run compile && npm run all && ${checks}`)
  // It compiles once, in the first of its scripts.
  const program = readFileSync('.ci/run', 'utf8')
  const runs = [...program.matchAll(/^ +run_tests ([\w:]+)/gm)].map(([, script]) => script)
  assert.deepEqual(runs, ['test', 'all'])
  assert.equal(program.includes(checks), true, checks)
})

test('CONTRIBUTING.md names each command that a contributor gives', () => {
  const documented = listItems(CONTRIBUTING, 'The commands')
  for (const name of [...HELP, ...LONGER_CHECKS].filter((each) => each !== 'prepack')) {
    const command = new RegExp(`^[^:]*\`npm (?:run |ci && npm )?${name}\\b`)
    assert.ok(
      documented.some((item) => command.test(item)),
      name,
    )
  }
  for (const page of [CONTRIBUTING, ALL]) {
    for (const [, name = ''] of page.matchAll(/`npm run ([\w:]+)/g)) {
      assert.ok(name in packageFile.scripts, name)
    }
  }
})

test('the versions that the pages promise are those of package.json', () => {
  const versions = tableRows(README, 'Install', 'Fastify')
  assert.deepEqual(tableRows(guide('guides/install'), 'Versions', 'Fastify'), versions)
  const [[fastify, node] = []] = versions
  assert.ok(typeof manifest === 'object' && manifest !== null, 'package.json is an object')
  assert.ok(
    'engines' in manifest && 'peerDependencies' in manifest,
    'package.json names engines and peers',
  )
  assert.deepEqual(manifest.engines, { node: node?.replaceAll('`', '') })
  const clients = tableRows(guide('guides/install'), 'Optional packages', 'Function').flatMap(
    ([, cell = '']) =>
      [...cell.matchAll(/`([^@`]+)@([^`]+)`/g)].map(([, name, range]) => [name, range]),
  )
  assert.deepEqual(manifest.peerDependencies, {
    fastify: fastify?.replaceAll('`', ''),
    ...Object.fromEntries(clients),
  })
  const optional = clients.map(([name = '']) => [name, { optional: true }])
  assert.deepEqual(packageFile.peerDependenciesMeta, Object.fromEntries(optional))
  const brought = listItems(guide('guides/install'), 'What comes with it')
  const names = brought.map((item) => /^`([\w-]+)`/.exec(item)?.[1])
  assert.deepEqual(Object.keys(packageFile.dependencies).sort(), names.sort())
})
