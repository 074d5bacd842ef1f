import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { codeBlocks, sectionOf } from '../helpers/documents/markdown.ts'
import {
  cloneInto,
  installIn,
  link,
  type Manifest,
  type Packed,
  packInto,
  publishedFrom,
  readManifest,
  root,
  runScript,
  tsc,
} from '../helpers/documents/packed-package.ts'
import { shownCalls } from '../helpers/documents/shown-calls.ts'
import { freePort } from '../helpers/servers/own-server.ts'

let folder: string
let manifest: Manifest
let packed: Packed

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenant-auth-package-'))
  manifest = await readManifest(root)
  packed = await packInto(folder)
})
after(() => rm(folder, { recursive: true, force: true }))

test('npm pack in a fresh clone packs what is needed and nothing else', async () => {
  const entries = await readdir(join(root, 'lib'), { recursive: true })
  const modules = entries.filter((name) => name.endsWith('.ts')).map((name) => name.slice(0, -3))
  const paths = packed.files.map(({ path }) => path)
  // Declarations that an entry point leads to. The type tests compile applications with them.
  const declarations = modules.map((name) => `dist/${name}.d.ts`)
  const doors = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [] : [String(target['default']).replace('./', '')],
  )
  const command = 'dist/entrypoints/cli'
  const programs = [
    ...[...doors, `${command}/index.js`, `${command}/preload.js`],
    // What several entry points share.
    ...paths.filter((path) => /^dist\/shared\/[A-Z0-9]{8}\.js$/.test(path)),
  ]
  const expected = [
    ...['package.json', 'README.md', 'LICENSE', 'dist/NOTICE.txt'],
    ...programs.flatMap((path) => [path, `${path}.map`]),
    ...declarations.filter((path) => paths.includes(path)),
  ]
  assert.deepEqual(paths.sort(), expected.sort())
  assert.equal(paths.includes('dist/service.d.ts'), true)
  assert.equal(paths.includes('dist/guard/decide.d.ts'), false)
})

test('npm publish builds first, even for a user whose npm runs no scripts', async () => {
  const clone = await cloneInto(folder)
  // The test above proves what is built. Here a fast build shows that a build takes place.
  const scripts = { ...manifest.scripts, build: 'mkdir dist && touch dist/built-now.js' }
  await writeFile(join(clone, 'package.json'), JSON.stringify({ ...manifest, scripts }))
  // As the release workflow does it. A dry run asks nobody for the provenance.
  const workflow = await readFile(join(root, '.github/workflows/release.yml'), 'utf8')
  const [, flags = ''] = /run: npm publish (.*)/.exec(workflow) ?? []
  assert.equal(flags, '--provenance --access public')
  assert.match(await publishedFrom(clone, flags.split(' ')), /"dist\/built-now\.js"/)
})

test('npm pack warns while package.json does not name the repository', async () => {
  const clone = await cloneInto(folder)
  const { repository: _, ...unnamed } = { repository: '', ...manifest }
  const url = 'git+https://github.com/owner/name.git'
  // The test above proves that npm runs the whole script. Its first step warns.
  const [step = ''] = manifest.scripts['prepack']?.split(' && ') ?? []
  for (const [written, warnings] of [
    [unnamed, 1],
    [{ ...unnamed, repository: { type: 'git', url } }, 0],
  ] as const) {
    await writeFile(join(clone, 'package.json'), JSON.stringify(written))
    const { stderr } = await promisify(execFile)('/bin/sh', ['-c', step], { cwd: clone })
    assert.equal(stderr.split('package.json has no "repository"').length - 1, warnings)
  }
})

test('what is compiled in is named with its license, and is no dependency', async () => {
  const app = await installIn(folder, packed, 'fastify')
  const own = join(app, 'node_modules/fastify-tenant-auth')
  const notice = await readFile(join(own, 'dist/NOTICE.txt'), 'utf8')
  assert.deepEqual(notice.match(/(?<=^Code of ).*(?= is compiled in)/gm), ['@sinclair/typebox'])
  assert.match(notice, /Copyright .*\sPermission is hereby granted/s)
  assert.equal('@sinclair/typebox' in manifest.dependencies, false)
})

test('an import of the plugin loads no entry point, and no package that it does not need', async () => {
  const app = await installIn(folder, packed, 'fastify')
  const dist = join(app, 'node_modules/fastify-tenant-auth/dist')
  const [files, packages] = [new Set([join(dist, 'index.js')]), new Set<string>()]
  for (const file of files) {
    const specifiers = (await readFile(file, 'utf8')).matchAll(/\b(?:from|import)"([^"]+)"/g)
    for (const [, name = ''] of specifiers) {
      if (name.startsWith('.')) files.add(join(file, '..', name))
      else if (!name.startsWith('node:')) packages.add(name)
    }
  }
  assert.deepEqual([...packages].sort(), ['fastify-plugin', 'ini'])
  const doors = [...files].filter((file) => file.includes('entrypoints'))
  assert.deepEqual(doors, [])
  // A module costs about as much as 30 kB of code do.
  assert.ok(files.size <= 30, `${files.size} modules`)
})

test('a stack trace names the files and lines of lib/', async () => {
  const app = await installIn(folder, packed, 'fastify')
  const found = await runScript(
    app,
    'trace.mjs',
    `process.setSourceMapsEnabled(true)
    // A map is read when its module is loaded.
    const { AuthService } = await import('fastify-tenant-auth')
    try {
      new AuthService({ keysTimeout: -1 })
    } catch (error) {
      console.log(JSON.stringify(error.stack))
    }`,
  )
  const frames = String(found).matchAll(/node_modules\/fastify-tenant-auth\/(lib\/.*?):(\d+)/g)
  const sources = [...frames].map(async ([, file = '', line]) => {
    const source = await readFile(join(root, file), 'utf8')
    return `${file}: ${source.split('\n')[Number(line) - 1]?.trim()}`
  })
  const shown = await Promise.all(sources)
  assert.match(shown[0] ?? '', /^lib\/config\/problems\.ts: .*new ERR_AUTH_CONFIG_INVALID\(/)
  assert.match(shown.at(-1) ?? '', /^lib\/service\.ts: .*loadSettings\(/)
})

test('node10 reads no exports, and TypeScript says what to do', async () => {
  const app = await installIn(folder, packed, 'fastify')
  await writeFile(join(app, 'package.json'), '{}')
  await writeFile(
    join(app, 'old.ts'),
    `import tenantAuth from 'fastify-tenant-auth'
    import { probe } from 'fastify-tenant-auth/testing'
    console.log(tenantAuth, probe)`,
  )
  const options = ['--module', 'commonjs', '--moduleResolution', 'node10', '--types', '--noEmit']
  const more = ['--skipLibCheck', '--esModuleInterop', '--target', 'es2022', 'old.ts']
  const cure =
    /old\.ts\(2,.*'fastify-tenant-auth\/testing'.*\n.*updating to 'node16', 'nodenext', or 'bundler'\.\n$/
  await assert.rejects(tsc(app, 'typescript-former', ...options, ...more), cure)
})

test('no dependency needs an install script, and npm may run none', async () => {
  const lock: unknown = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  assert.ok(isRecord(lock) && isRecord(lock['packages']), 'the lock file lists packages')
  const scripted = Object.entries(lock['packages']).filter(
    ([, entry]) => isRecord(entry) && entry['hasInstallScript'] === true,
  )
  assert.deepEqual(
    Object.fromEntries(scripted.map(([path]) => [path.replace('node_modules/', ''), false])),
    manifest.allowScripts,
  )
})

test('the package is under 200 kB', () => {
  assert.ok(packed.size < 200_000, `${packed.size} bytes`)
})

test('every file that package.json exports is packed', () => {
  const targets = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  )
  const paths = packed.files.map(({ path }) => `./${path}`)
  const missing = targets.filter((target) => !paths.includes(target))
  assert.notEqual(targets.length, 0)
  assert.deepEqual(missing, [])
})

test('the command of an installed package runs by itself, for everybody', async () => {
  const app = await installIn(folder, packed, 'fastify')
  const [[name, file] = ['', ''], ...more] = Object.entries(manifest.bin)
  assert.deepEqual([name, more], ['fastify-tenant-auth', []])
  const command = join(app, 'node_modules/fastify-tenant-auth', file)
  assert.equal((await stat(command)).mode & 0o111, 0o111)
  const { stdout } = await promisify(execFile)(command, ['--version'])
  assert.equal(stdout, `${manifest.version}\n`)
})

test('the quick start with a real token, pasted as it stands, answers as README.md says', async () => {
  const app = await installIn(folder, packed, 'fastify')
  await linkCommands(app, { 'fastify-tenant-auth': manifest.bin['fastify-tenant-auth'] ?? '' })
  const quickStart = sectionOf(await readFile(join(root, 'README.md'), 'utf8'), 'Quick start')
  const [, block = ''] = codeBlocks(quickStart)
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => text)
  const [source] = codeBlocks(quickStart).filter(({ language }) => language === 'ts')
  const [end = ''] = /kill %1 %2/.exec(quickStart) ?? []
  const [port, authorityPort] = [await freePort(), await freePort()]
  const moved = (text: string) =>
    text.replaceAll(':3000', `:${port}`).replaceAll(':8081', `:${authorityPort}`)
  await writeFile(join(app, 'app.mts'), moved(source?.text ?? ''))
  const pasted = moved(block).replace('--audience', `--port ${authorityPort} --audience`)
  // As in a shell of a terminal, each job has a number, and ends as a whole.
  const script = `set -m\ntrap '${end}' EXIT\n${pasted}`
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    cwd: app,
    env: { ...process.env, PORT: String(port), NODE_OPTIONS: '', npm_config_offline: 'true' },
    timeout: 60_000,
  })
  const statuses = [...stdout.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  assert.deepEqual(
    statuses,
    shownCalls(block).map(({ status }) => status),
  )
  assert.deepEqual(statuses, [200, 403, 401])
  await assert.rejects(fetch(`http://127.0.0.1:${port}`), 'the application has ended')
  await assert.rejects(fetch(`http://127.0.0.1:${authorityPort}`), 'the authority has ended')
})

/** As npm installs the commands of a package; tsx is one of this repository. */
async function linkCommands(app: string, commands: Record<string, string>): Promise<void> {
  const bin = join(app, 'node_modules/.bin')
  await mkdir(bin)
  await symlink(join(root, 'node_modules/.bin/tsx'), join(bin, 'tsx'))
  for (const [name, file] of Object.entries(commands)) {
    await symlink(join(app, 'node_modules', name, file), join(bin, name))
  }
}

test('every export of an installed package can be imported, and no other file of it', async () => {
  const app = await installIn(folder, packed, 'fastify')
  await link(app, 'oauth4webapi')
  const names = Object.keys(manifest.exports).map((name) => `fastify-tenant-auth${name.slice(1)}`)
  const modules = names.filter((name) => !name.endsWith('.json'))
  const found = await runScript(
    app,
    'esm.mjs',
    `import manifest from 'fastify-tenant-auth/package.json' with { type: 'json' }
    const found = { version: manifest.version, names: {} }
    for (const name of ${JSON.stringify(modules)}) found.names[name] = Object.keys(await import(name))
    found.inner = await import('fastify-tenant-auth/dist/plugin.js').catch((error) => error.code)
    console.log(JSON.stringify(found))`,
  )
  assert.ok(isRecord(found) && isRecord(found['names']), 'the child printed its results')
  assert.equal(found['version'], manifest.version)
  assert.deepEqual(found['names']['fastify-tenant-auth'], [
    ...[
      'AuthService',
      'authorizationOf',
      'currentAuthorization',
      'default',
      'errors',
      'publicScope',
      'refusalOf',
      'resourceMetadata',
      'signalOf',
      'tenantAuth',
    ],
  ])
  assert.deepEqual(found['names']['fastify-tenant-auth/testing'], [
    'assertGuarded',
    'createTestAuthority',
    'probe',
  ])
  assert.deepEqual(found['names']['fastify-tenant-auth/introspection'], [
    'introspection',
    'seacatExchange',
    'sharedSecret',
  ])
  assert.deepEqual(found['names']['fastify-tenant-auth/revocation'], [
    'backchannelLogout',
    'denyList',
    'postgresDenyList',
    'proofTable',
    'redisDenyList',
    'redisProofs',
  ])
  assert.deepEqual(found['names']['fastify-tenant-auth/certificates'], ['certificateFrom'])
  for (const name of modules) assert.notDeepEqual(found['names'][name], [], name)
  assert.equal(found['inner'], 'ERR_PACKAGE_PATH_NOT_EXPORTED')
})

test('the build keeps the names of functions and classes, which logs and stack traces show', async () => {
  const app = await installIn(folder, packed, 'fastify')
  await link(app, 'oauth4webapi')
  const doors = Object.keys(manifest.exports).filter((name) => !name.endsWith('.json'))
  const found = await runScript(
    app,
    'names.mjs',
    `const wrong = []
    let count = 0
    for (const name of ${JSON.stringify(doors)}) {
      const { default: _, tenantAuth, ...all } = await import('fastify-tenant-auth' + name.slice(1))
      const entries = Object.entries({ ...all, ...all.errors }).filter(([, value]) => typeof value === 'function')
      count += entries.length
      wrong.push(...entries.filter(([name, value]) => value.name !== name))
    }
    console.log(JSON.stringify({ wrong, isEnough: count > 40 }))`,
  )
  assert.deepEqual(found, { wrong: [], isEnough: true })
})

test('the build names no function each time that one is made', async () => {
  const app = await installIn(folder, packed, 'fastify')
  const found = await runScript(
    app,
    'unnamed.mjs',
    `import Fastify from 'fastify'
    const define = Object.defineProperty
    let count = 0
    Object.defineProperty = (target, key, rest) => {
      if (key === 'name') count++
      return define(target, key, rest)
    }
    const { default: tenantAuth } = await import('fastify-tenant-auth')
    const app = Fastify()
    await app.register(tenantAuth, { devMode: true, checks: { own: async () => true } })
    app.get('/', { config: { check: 'own', authorization: true } }, async (request) => {
      // Its class uses its own name, which bundlers change.
      return request.authorization.constructor.name
    })
    await app.ready()
    count = 0
    const { body } = await app.inject('/')
    console.log(JSON.stringify({ body, count }))`,
  )
  assert.deepEqual(found, { body: 'Authorization', count: 0 })
})

test('without the optional package one entry point alone cannot be imported, and says what it lacks', async () => {
  const app = await installIn(folder, packed, 'fastify')
  const names = Object.keys(manifest.exports).map((name) => `fastify-tenant-auth${name.slice(1)}`)
  const modules = names.filter((name) => !name.endsWith('.json'))
  const found = await runScript(
    app,
    'bare.mjs',
    `const failures = {}
    for (const name of ${JSON.stringify(modules)}) {
      await import(name).catch(({ code, message }) => { failures[name] = code + ': ' + message })
    }
    console.log(JSON.stringify(failures))`,
  )
  assert.ok(isRecord(found), 'the child printed its results')
  assert.deepEqual(Object.keys(found), ['fastify-tenant-auth/introspection'])
  assert.match(
    String(found['fastify-tenant-auth/introspection']),
    /^ERR_MODULE_NOT_FOUND: .*'oauth4webapi'/,
  )
})

/** The newest Fastify that is installed here, and the lowest that package.json permits. */
const HOSTS = ['fastify', 'fastify-lowest']

for (const host of HOSTS) {
  test(`a CommonJS application can require the plugin, and is guarded (${host})`, async () => {
    const found = await runScript(
      await installIn(folder, packed, host),
      'app.cjs',
      `const Fastify = require('fastify')
      const tenantAuth = require('fastify-tenant-auth')
      const { createTestAuthority } = require('fastify-tenant-auth/testing')

      async function main() {
        const authority = await createTestAuthority()
        const app = Fastify()
        app.register(tenantAuth, authority.options)
        app.register(async (scope) => {
          scope.get('/:tenant/menu', { config: { tenant: 'required' } }, async ({ tenant }) => ({ tenant }))
        })
        const headers = await authority.headers({ resources: { acme: [] } })
        const replies = [
          await app.inject('/acme/menu'),
          await app.inject({ url: '/acme/menu', headers }),
          await app.inject({ url: '/other/menu', headers }),
        ]
        await app.close()
        // With two copies of the classes, an instanceof would fail in this application.
        const { errors } = await import('fastify-tenant-auth')
        console.log(JSON.stringify({
          version: app.version,
          replies: replies.map(({ statusCode, json }) => [statusCode, json().code ?? json().tenant]),
          once: errors.AuthError === tenantAuth.errors.AuthError,
        }))
      }
      main()`,
    )
    assert.deepEqual(found, {
      version: (await readManifest(join(root, 'node_modules', host))).version,
      replies: [
        [401, 'ERR_AUTH_TOKEN_MISSING'],
        [200, 'acme'],
        [403, 'ERR_AUTH_TENANT_FORBIDDEN'],
      ],
      once: true,
    })
  })
}

test('the lowest Fastify that is tested is the lowest that package.json permits', async () => {
  const { version } = await readManifest(join(root, 'node_modules/fastify-lowest'))
  assert.match(
    manifest.peerDependencies['fastify'] ?? '',
    new RegExp(`^>=${version.replaceAll('.', '\\.')} `),
  )
})

test('an application with only the package and its dependencies compiles', async () => {
  const app = await installIn(folder, packed, 'fastify')
  const consumer = join(root, 'test/types/consumer')
  await link(app, '@types/node')
  for (const file of ['tsconfig.json', 'module.mts', 'commonjs.cts']) {
    await cp(join(consumer, file), join(app, file))
  }
  assert.match(
    await tsc(app, 'typescript-newest', '--listFiles'),
    /node_modules\/fastify-tenant-auth\/dist\/index\.d\.ts/,
  )
})

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
