import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

const root = resolve(import.meta.dirname, '..')
const run = promisify(execFile)

interface Manifest {
  readonly version: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** What `npm pack --json` tells. */
interface Packed {
  readonly filename: string
  /** Bytes of the archive. */
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

let folder: string
let manifest: Manifest
let packed: Packed

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenant-auth-package-'))
  manifest = await readManifest(root)
  packed = await pack(await build())
})
after(() => rm(folder, { recursive: true, force: true }))

test('the package holds what is needed and nothing else', async () => {
  const entries = await readdir(join(root, 'lib'), { recursive: true })
  const modules = entries.filter((name) => name.endsWith('.ts')).map((name) => name.slice(0, -3))
  const built = ['.js', '.js.map', '.d.ts', '.d.ts.map']
  const expected = [
    ...['package.json', 'README.md', 'LICENSE'],
    ...modules.map((name) => `lib/${name}.ts`),
    ...modules.flatMap((name) => built.map((ending) => `dist/${name}${ending}`)),
  ]
  assert.deepEqual(packed.files.map(({ path }) => path).sort(), expected.sort())
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
  assert.ok(targets.length > 0)
  assert.deepEqual(missing, [])
})

test('every export of an installed package can be imported, and nothing else of it', async () => {
  const app = await install('fastify')
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
  assert.ok(isRecord(found) && isRecord(found['names']))
  assert.equal(found['version'], manifest.version)
  assert.deepEqual(found['names']['fastify-tenant-auth'], [
    ...['AuthService', 'authorizationOf', 'default', 'errors', 'publicScope', 'tenantAuth'],
  ])
  assert.deepEqual(found['names']['fastify-tenant-auth/testing'], ['createTestAuthority'])
  for (const name of modules) assert.notDeepEqual(found['names'][name], [], name)
  assert.equal(found['inner'], 'ERR_PACKAGE_PATH_NOT_EXPORTED')
})

/** The newest Fastify that is installed here, and the lowest that package.json permits. */
const HOSTS = ['fastify', 'fastify-lowest']

for (const host of HOSTS) {
  test(`a CommonJS application requires the plugin as it is, and is guarded (${host})`, async () => {
    const found = await runScript(
      await install(host),
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
        // Were there two copies of the classes, an instanceof would fail in the application that has both.
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

test('an application with the package and its dependencies alone compiles', async () => {
  const app = await install('fastify')
  const consumer = join(root, 'test/types/consumer')
  await link(app, '@types/node')
  for (const file of ['tsconfig.json', 'module.mts', 'commonjs.cts']) {
    await cp(join(consumer, file), join(app, file))
  }
  const { stdout } = await tsc(app, ['--listFiles'])
  assert.match(stdout, /node_modules\/fastify-tenant-auth\/dist\/index\.d\.ts/)
})

/** A copy of the repository as it is checked out, built: nothing is written into the one that the tests run in. */
async function build(): Promise<string> {
  const copy = join(folder, 'checkout')
  const left = ['.git', 'node_modules', 'dist', 'coverage']
  await cp(root, copy, { recursive: true, filter: (path) => !left.includes(basename(path)) })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  await tsc(copy)
  return copy
}

async function pack(checkout: string): Promise<Packed> {
  const options = ['--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await run('npm', ['pack', ...options], { cwd: checkout })
  const [only]: Packed[] = JSON.parse(stdout)
  assert.ok(only)
  return only
}

/** A folder in which the package is installed with what it names as its dependencies, and no more. */
async function install(host: string): Promise<string> {
  const app = await mkdtemp(join(folder, 'app-'))
  const target = join(app, 'node_modules/fastify-tenant-auth')
  await mkdir(target, { recursive: true })
  const archive = join(folder, packed.filename)
  await run('tar', ['-xzf', archive, '-C', target, '--strip-components=1'])
  for (const name of Object.keys(manifest.dependencies)) await link(app, name)
  await link(app, 'fastify', host)
  return app
}

async function link(app: string, name: string, from = name): Promise<void> {
  const path = join(app, 'node_modules', name)
  await mkdir(dirname(path), { recursive: true })
  await symlink(join(root, 'node_modules', from), path)
}

/** Runs a script in an application's folder; gives what it prints, which is JSON. */
async function runScript(app: string, name: string, script: string): Promise<unknown> {
  await writeFile(join(app, name), script)
  const { stdout } = await node(app, [name])
  return JSON.parse(stdout)
}

function tsc(cwd: string, options: string[] = []) {
  return node(cwd, [join(root, 'node_modules/typescript/bin/tsc'), ...options])
}

/** Without the coverage and the loaders of the process that runs the tests. */
function node(cwd: string, options: string[]) {
  const { NODE_V8_COVERAGE: _coverage, NODE_OPTIONS: _options, ...env } = process.env
  return run(process.execPath, options, { cwd, env, maxBuffer: 2 ** 26 })
}

async function readManifest(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(path, 'package.json'), 'utf8'))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
