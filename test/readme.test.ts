import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { AuthService, errors, type RouteDeclaration } from '../lib/index.ts'
import { INI_KEYS, optionNames } from '../lib/settings/ini-values.ts'
import { loadSettings } from '../lib/settings/load-settings.ts'
import { type OptionName, Options } from '../lib/settings/options.ts'
import { guardedApp } from './helpers/guarded-app.ts'
import { codeBlocks, dedent, headings, sectionOf, tableRows } from './helpers/markdown.ts'
import { tempFolder } from './helpers/temp-folder.ts'

const README = readFileSync('README.md', 'utf8')
const blocks = codeBlocks(README)

test('what a newcomer needs comes in the order in which it is needed', () => {
  const needed = [
    'What a route looks like',
    'Install',
    'Quick start',
    'The two commands',
    'What a route declares',
    'Configuration',
    'Dev mode',
    'How the tenant is found and permitted',
    'Errors',
    'TypeScript',
    'Testing your application',
    'Security notes',
    'Map of the code',
    'License',
  ]
  assert.deepEqual(
    headings(README).filter((heading) => needed.includes(heading)),
    needed,
  )
})

const SPECIFIERS = [
  ["'../../lib/index.ts'", "'fastify-tenant-auth'"],
  ["'../../lib/testing.ts'", "'fastify-tenant-auth/testing'"],
] as const

/** An example as a reader of the page has it, who has installed the package. */
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

for (const { file, text } of blocks.filter(({ language }) => language === 'ts')) {
  test(`the code of ${file} stands on the page as it is, and a test runs it`, () => {
    assert.ok(file !== undefined, `no file is named for: ${text}`)
    assert.equal(holdsExcerpt(exampleFile(file), text), true)
    assert.equal(existsSync(file.replace(/(?:\.test)?\.ts$/, '.test.ts')), true)
  })
}

test('every block of code is of a language that is checked here', () => {
  const languages = new Set(blocks.map(({ language }) => language))
  assert.deepEqual([...languages].sort(), ['', 'ini', 'json', 'sh', 'ts'])
  assert.equal(blocks.filter(({ language }) => language === '').length, 1, 'the map')
})

function onlyBlock(language: string): string {
  const [block, ...others] = blocks.filter((each) => each.language === language)
  assert.ok(block && others.length === 0, 'one block')
  return block.text
}

const folder = tempFolder()

test('the INI file is one that the service takes, and says what it seems to say', () => {
  const configFile = folder.write(onlyBlock('ini'), 'app.ini')
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

function asOption(name: string): OptionName {
  const option = optionNames().find((each) => each === name)
  assert.ok(option, name)
  return option
}

test('the mock user is one that dev mode takes, from where the INI file names it', () => {
  const configFile = folder.write(onlyBlock('ini'), 'dev.ini')
  folder.write('{}', 'dev-userinfo.json')
  assert.throws(() => new AuthService({ configFile, devMode: true }), /devUserInfoPath/)
  folder.write(onlyBlock('json'), 'dev-userinfo.json')
  new AuthService({ configFile, devMode: true }).close()
})

/** Defaults that no single value can say. */
const DEFAULTS_IN_WORDS: { readonly [name in OptionName]?: string } = {
  issuer: 'not checked',
  audience: 'not checked',
  algorithms: 'all asymmetric ones',
  tokenTypes: '`JWT`, `at+jwt`, or no `typ`',
  superuserResource: 'none',
  tenants: 'not checked',
  publicKeys: 'none',
  mapClaims: 'none',
  isRevoked: 'none',
  resolveTenant: 'none',
  tokenFrom: 'none',
}

function defaultOf(name: OptionName): string {
  const value: unknown = Options.properties[name]['default']
  if (typeof value === 'boolean') return value ? '`yes`' : '`no`'
  if (typeof value === 'string' || typeof value === 'number') return `\`${value}\``
  return DEFAULTS_IN_WORDS[name] ?? 'not told'
}

function iniKeyOf(name: OptionName): string {
  if (name === 'tenants') {
    const [ids, url] = INI_KEYS.tenants.keys()
    return `\`[tenants] ${ids}\` or \`${url}\``
  }
  const [key] = [...INI_KEYS.auth].find(([, option]) => option === name) ?? []
  return key === undefined ? 'in code only' : `\`${key}\``
}

test('the table of options is the schema: names, INI keys and defaults, in its order', () => {
  const rows = tableRows(README, 'Configuration', 'option')
  assert.deepEqual(
    rows.map(([option, key, fallback]) => [option, key, fallback]),
    optionNames().map((name) => [`\`${name}\``, iniKeyOf(name), defaultOf(name)]),
  )
  for (const [option, , , meaning] of rows) assert.ok(meaning, option)
})

const REQUEST_ERRORS = [
  new errors.ERR_AUTH_TOKEN_MISSING(),
  new errors.ERR_AUTH_TOKEN_INVALID(),
  new errors.ERR_AUTH_TENANT_FORBIDDEN(),
  new errors.ERR_AUTH_RESOURCE_MISSING(['menu:read']),
  new errors.ERR_AUTH_TENANT_MISSING(),
  new errors.ERR_AUTH_TENANT_INVALID(),
  new errors.ERR_AUTH_TENANT_UNKNOWN(),
  new errors.ERR_AUTH_KEYS_UNAVAILABLE(1),
  new errors.ERR_AUTH_TENANTS_UNAVAILABLE(1),
  new errors.ERR_AUTH_REVOCATION_UNAVAILABLE(1),
]
const BOOT_ERRORS = [new errors.ERR_AUTH_CONFIG_INVALID(''), new errors.ERR_AUTH_ROUTE_INVALID('')]

test('the table of errors is the classes of lib/errors.ts: code, status and challenge', async (t) => {
  const app = await guardedApp(t)
  app.get('/:index', { config: { noauth: true } }, async ({ params }) => {
    throw REQUEST_ERRORS[Number(Object(params).index)]
  })
  const headersOf = async (error: (typeof REQUEST_ERRORS)[number]) =>
    (await app.inject(`/${REQUEST_ERRORS.indexOf(error)}`)).headers
  const rows = tableRows(README, 'Errors', 'code')
  const ofRequests = await Promise.all(
    REQUEST_ERRORS.map(async (error) => {
      const { 'www-authenticate': challenge } = await headersOf(error)
      const shown = challenge === undefined ? '' : `\`${challenge}\``
      return [`\`${error.code}\``, String(error.statusCode), shown]
    }),
  )
  const atBoot = BOOT_ERRORS.map(({ code }) => [`\`${code}\``, 'boot', ''])
  assert.deepEqual(
    rows.map(([code, status, challenge]) => [code, status, challenge]),
    [...ofRequests, ...atBoot],
  )
  assert.deepEqual(
    [...REQUEST_ERRORS, ...BOOT_ERRORS].map(({ code }) => code).sort(),
    Object.keys(errors)
      .filter((name) => name !== 'AuthError')
      .sort(),
  )
  for (const error of REQUEST_ERRORS) {
    const when = rows.find(([code]) => code === `\`${error.code}\``)?.[3]
    const saysSo = when?.includes('`Retry-After`')
    assert.equal(saysSo, error.retryAfter !== null, error.code)
  }
})

test('the table of declarations has every key, and every word that a key may have', () => {
  const keys = {
    noauth: true,
    tenant: true,
    userInfo: true,
    resources: true,
    authorization: true,
    require: true,
  } satisfies Record<keyof RouteDeclaration, true>
  const rows = tableRows(README, 'What a route declares', 'key')
  const named = rows.map(([key = '']) => key).filter((key) => key !== '')
  assert.deepEqual(
    named,
    Object.keys(keys).map((key) => `\`${key}\``),
  )
  const words = rows.map(([, value]) => value)
  for (const word of ["`'required'`", "`'optional'`"]) assert.ok(words.includes(word), word)
})

test('the map names every file and folder of lib/, and nothing else', () => {
  const [map] = codeBlocks(sectionOf(README, 'Map of the code'))
  assert.deepEqual(mappedPaths(map?.text ?? '').sort(), pathsBelow('lib').sort())
})

function pathsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? [`${path}/`, ...pathsBelow(path)] : [path]
  })
}

/** Of a tree with a line for each folder, and below it the names of its files without `.ts`. */
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
    if (file !== undefined) return [`${inside}/${file}`]
    const names = line.trim().split(/\s+/)
    return names.flatMap((name) => (name === '' ? [] : [`${inside}/${name}.ts`]))
  })
}

const manifest: unknown = JSON.parse(readFileSync('package.json', 'utf8'))
const packageFile: { scripts: Record<string, string> } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)

/** They need a browser or a database, or take long. */
const LONGER_CHECKS = ['test:e2e', 'test:deep', 'bench', 'bench:growth']

test('the commands of the page are there, and so are the files that it names', () => {
  const scripts = JSON.stringify(manifest)
  const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text)
  for (const [, script] of commands.join('').matchAll(/npm (?:run )?(start|test)\b/g)) {
    assert.ok(scripts.includes(`"${script}":`), script)
  }
  assert.match(commands.join(''), /^npm ci && npm start\nnpm test$/m)
  for (const [, path] of README.matchAll(/`((?:lib|test)\/[\w./-]*)`/g)) {
    assert.ok(existsSync(path ?? ''), path)
  }
  assert.equal(existsSync('LICENSE'), true)
})

test('npm test runs every check, but for those that the page and CONTRIBUTING.md name', () => {
  const { scripts } = packageFile
  const run = (script: string): string[] => [
    script,
    ...[...(scripts[script] ?? '').matchAll(/npm run ([\w:]+)/g)].flatMap(([, name = '']) =>
      run(name),
    ),
  ]
  const others = Object.keys(scripts).filter((name) => !run('test').includes(name))
  assert.deepEqual(others, ['start', 'prepack', ...LONGER_CHECKS])
  const commands = tableRows(
    readFileSync('.github/CONTRIBUTING.md', 'utf8'),
    'The commands',
    'command',
  )
  for (const name of LONGER_CHECKS) {
    assert.ok(
      commands.some(([command]) => command?.includes(`\`npm run ${name}\``)),
      name,
    )
    assert.match(sectionOf(README, 'The two commands'), new RegExp(`\`npm run ${name}\``))
  }
})

test('the versions that the page promises are those of package.json', () => {
  const [[fastify, node] = []] = tableRows(README, 'Install', 'Fastify')
  assert.ok(typeof manifest === 'object' && manifest !== null, 'package.json is an object')
  assert.ok(
    'engines' in manifest && 'peerDependencies' in manifest,
    'package.json names engines and peers',
  )
  assert.deepEqual(manifest.engines, { node: node?.replaceAll('`', '') })
  assert.deepEqual(manifest.peerDependencies, { fastify: fastify?.replaceAll('`', '') })
})
