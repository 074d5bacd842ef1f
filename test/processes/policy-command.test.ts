import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { before, test } from 'node:test'
import { installBuilt } from '../helpers/documents/built-package.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const folder = tempFolder()
// A space in the path: Node's options are separated by spaces.
const home = mkdtempSync(join(folder.path, 'an application '))
let cli: string
before(() => {
  cli = installBuilt(home)
})

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function start(args: readonly string[], cwd = home): ChildProcess {
  const given = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|FORCE_)/.test(name))
  return spawn(process.execPath, [cli, 'policy', ...args], {
    cwd,
    env: { ...Object.fromEntries(given), TMPDIR: tmpdir() },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 110_000,
    killSignal: 'SIGKILL',
  })
}

async function ended({ stdout, stderr, ...child }: ChildProcess, exit: Promise<unknown[]>) {
  assert.ok(stdout && stderr, `pipes of ${child.pid}`)
  const [out, err, [code]] = await Promise.all([text(stdout), text(stderr), exit])
  return { code: typeof code === 'number' ? code : null, out, err }
}

async function policy(args: readonly string[], cwd = home): Promise<Ran> {
  const child = start(args, cwd)
  return ended(child, once(child, 'exit'))
}

/** Writes a program beside the installed package. */
function program(name: string, code: string): string {
  writeFileSync(join(home, name), code)
  return name
}

const GUARDED = `const guarded = (url) => {
  const app = Fastify()
  app.register(tenantAuth, { devMode: true })
  app.register(async (scope) => {
    scope.get('/health', { config: { noauth: true }, exposeHeadRoute: false }, async () => 'ok')
    scope.get(url, { config: { require: 'menu:read' }, exposeHeadRoute: false }, async () => url)
  })
  return app
}
`
const ESM = `import Fastify from 'fastify'
import tenantAuth from 'fastify-tenant-auth'
${GUARDED}`
const CJS = `const Fastify = require('fastify')
const tenantAuth = require('fastify-tenant-auth')
${GUARDED}`

const rowsOf = (out: string): string[] => out.trimEnd().split('\n').slice(1)
const MENU = ['GET     /health  everybody', 'GET     /menu    users              menu:read']

/** Programs that listen in different ways, and how they are run. */
const LISTENING: readonly [what: string, file: string, code: string, run: string[]][] = [
  [
    'an ES module that listens at once, and keeps the process alive',
    'esm.mjs',
    `${ESM}setInterval(() => {}, 1000); console.log('hello'); guarded('/menu').listen({ port: 1 })`,
    ['node'],
  ],
  [
    'a CommonJS module that listens with a callback',
    'commonjs.cjs',
    `${CJS}console.log('hello'); guarded('/menu').listen({ port: 1 }, (error) => { if (error) throw error })`,
    ['node'],
  ],
  [
    'an application whose server listens',
    'server.mjs',
    `${ESM}console.log('hello'); const app = guarded('/menu'); await app.ready(); app.server.listen(1)`,
    ['node'],
  ],
  [
    'a program in TypeScript below tsx',
    'typed.mts',
    `${ESM.replace('(url)', '(url: string)')}console.log('hello'); await guarded('/menu').listen()`,
    [join('node_modules', 'tsx', 'dist', 'cli.mjs')],
  ],
  [
    'a program whose child is the application',
    'parent.mjs',
    `import { spawnSync } from 'node:child_process'
    console.log('hello'); spawnSync(process.execPath, ['esm.mjs'], { stdio: 'inherit' })`,
    ['node'],
  ],
  [
    'a cluster that starts its workers anew',
    'cluster.cjs',
    `const cluster = require('node:cluster')
    if (cluster.isPrimary) { console.log('hello'); cluster.fork(); cluster.fork(); cluster.on('exit', () => cluster.fork()) }
    else require('./commonjs.cjs')`,
    ['node'],
  ],
  [
    'an application in a worker thread',
    'thread.mjs',
    `import { Worker } from 'node:worker_threads'
    setInterval(() => {}, 1000); new Worker(new URL('./esm.mjs', import.meta.url))`,
    ['node'],
  ],
]

for (const [what, file, code, run] of LISTENING) {
  test(`the matrix of ${what} is all that stands on standard output`, async () => {
    program(file, code)
    const [first = '', ...rest] = run
    const command = first === 'node' ? [first, ...rest] : ['node', first, ...rest]
    const { code: exitCode, out, err } = await policy(['--', ...command, file])
    assert.equal(exitCode, 0, err)
    assert.deepEqual(rowsOf(out), MENU)
    assert.match(err, /^hello$/m)
  })
}

test('npm start is run as it is', async () => {
  const app = join(home, 'npm')
  mkdirSync(app, { recursive: true })
  writeFileSync(join(app, 'package.json'), '{ "scripts": { "start": "node app.mjs" } }')
  writeFileSync(join(app, 'app.mjs'), `${ESM}await guarded('/menu').listen()`)
  const { code, out, err } = await policy(['--', 'npm', 'start'], app)
  assert.equal(code, 0, err)
  assert.deepEqual(rowsOf(out), MENU)
})

test('each instance of a process is an application, whatever else it holds open', async () => {
  const code = `${ESM}import { createServer } from 'node:http'
  createServer().listen(0, '127.0.0.1')
  await guarded('/menu').listen()
  await guarded('/admin').listen()`
  const args = ['--json', '--', 'node', program('two.mjs', code)]
  const { out, err } = await policy(args)
  const found: { applications: { routes: { url: string }[] }[] } = JSON.parse(out || err)
  assert.deepEqual(
    found.applications.map(({ routes }) => routes.map(({ url }) => url)),
    [
      ['/health', '/menu'],
      ['/admin', '/health'],
    ],
  )
  assert.equal((await policy(args)).out, out)
})

/** Programs without a matrix, and the error of each. */
const FAILING: readonly [what: string, code: string, message: RegExp][] = [
  [
    'does not boot',
    `${ESM}guarded('/menu').register(async () => { throw new Error('no database') }).listen()`,
    /Error: no database[\s\S]*the application ended with exit code 1\n$/,
  ],
  [
    'never listens, and ends',
    `${ESM}await guarded('/menu').ready()`,
    /policy: the application did not listen before it ended\n$/,
  ],
  [
    'never listens, and stays',
    `${ESM}setInterval(() => {}, 1000); await guarded('/menu').ready()`,
    /policy: the application did not listen within the time limit; --timeout gives it more\n$/,
  ],
  [
    'has no guard',
    `${ESM}await Fastify().listen()`,
    /policy: no Fastify instance that has the plugin listened before it ended; a process with NODE_OPTIONS /,
  ],
  [
    'has another service of that name',
    `${ESM}const app = Fastify(); app.decorate('authService', { routes: () => [] }); await app.listen()`,
    /policy: the application has another copy of fastify-tenant-auth than this command/,
  ],
  [
    'has no Fastify',
    'console.log(1)',
    /policy: the application made no Fastify instance .*; a process with NODE_OPTIONS or an /,
  ],
]

for (const [what, code, message] of FAILING) {
  test(`an application that ${what} is an error, and the exit code is 1`, async () => {
    const file = program(`${what.replaceAll(/\W/g, '-')}.mjs`, code)
    const limit = what.endsWith('stays') ? '8' : '100'
    const found = await policy(['--timeout', limit, '--', 'node', file])
    assert.equal(found.code, 1, found.err)
    assert.equal(found.out, '')
    assert.match(found.err, message)
    assert.equal(found.err.split('fastify-tenant-auth policy:').length, 2, found.err)
  })
}

test('a written file holds until a route opens', async () => {
  const file = program('locked.mjs', `${ESM}await guarded('/menu').listen()`)
  const lock = join(home, 'policy.json')
  assert.equal((await policy(['--write', lock, '--', 'node', file])).code, 0)
  const written = readFileSync(lock, 'utf8')
  assert.equal((await policy(['--check', lock, '--', 'node', file])).code, 0)
  program(
    file,
    readFileSync(join(home, file), 'utf8').replace("require: 'menu:read'", 'noauth: true'),
  )
  const { code, out } = await policy(['--check', lock, '--', 'node', file])
  assert.deepEqual([code, out], [1, 'opens    GET /menu: was guarded, is open\n'])
  assert.equal(readFileSync(lock, 'utf8'), written)
})

test('a route that was written before the plugin has its policy, and opens', async () => {
  const code = (config: string): string => `const app = require('fastify')()
  app.get('/menu', { config: { ${config} }, exposeHeadRoute: false }, async () => 'menu')
  app.register(require('fastify-tenant-auth'), { devMode: true })
  app.listen()`
  const lock = join(home, 'early.json')
  const file = program('early.cjs', code("require: 'menu:read'"))
  assert.equal((await policy(['--write', lock, '--', 'node', file])).code, 0)
  program(file, code('noauth: true'))
  const { code: exitCode, out } = await policy(['--check', lock, '--', 'node', file])
  assert.deepEqual([exitCode, out], [1, 'opens    GET /menu: was guarded, is open\n'])
})

test('an application that comes late is in the file, and --check waits for it', async () => {
  const made =
    "await new Promise((resolve) => setTimeout(resolve, 1500)); const admin = guarded('/admin')"
  const lock = join(home, 'late.json')
  const file = program(
    'late.mjs',
    `${ESM}setInterval(() => {}, 1000); await guarded('/menu').listen()
  ${made}; await admin.listen()`,
  )
  const write = ['--applications', '2', '--write', lock]
  assert.match((await policy([...write, '--', 'node', file])).err, /applications 2, routes 4\n$/)
  assert.equal((await policy(['--check', lock, '--', 'node', file])).code, 0)
  program(
    file,
    `${ESM}setInterval(() => {}, 1000); await guarded('/menu').listen()
  const admin = Fastify(); admin.get('/admin', async () => 'open'); await admin.listen()`,
  )
  const { code, out, err } = await policy(['--check', lock, '--timeout', '8', '--', 'node', file])
  assert.equal(code, 1, err)
  assert.match(
    out,
    /^opens {4}guarded applications: were 2, are 1\nopens {4}application 2: GET \/adm/,
  )
  assert.match(err, /^not in the matrix: .* 2 routes, such as (GET|HEAD) \/admin$/m)
})

test('a written file does not hold if two versions swap their policies', async () => {
  const code = (open: string, host: string): string => `${ESM}const app = Fastify()
    await app.register(tenantAuth, { devMode: true })
    for (const version of ['1.0.0', '2.0.0']) {
      const config = version === '${open}' ? { noauth: true } : { require: 'menu:read' }
      const constraints = { version, host: ${host} }
      app.get('/menu', { config, constraints, exposeHeadRoute: false }, async () => version)
    }
    await app.listen()`
  const lock = join(home, 'versions.json')
  const file = program('versions.mjs', code('1.0.0', '/^a$/'))
  assert.equal((await policy(['--write', lock, '--', 'node', file])).code, 0)
  assert.equal((await policy(['--check', lock, '--', 'node', file])).code, 0)
  program(file, code('2.0.0', '/^a$/'))
  const swapped = await policy(['--check', lock, '--', 'node', file])
  assert.deepEqual(
    [swapped.code, swapped.out],
    [
      1,
      'opens    GET /menu (host /^a$/, version 2.0.0): was guarded, is open\n' +
        'closes   GET /menu (host /^a$/, version 1.0.0): was open, is guarded\n',
    ],
  )
  program(file, code('1.0.0', '/^a/'))
  const shown = (await policy(['--check', lock, '--', 'node', file])).out
  assert.match(shown, /^opens .* constraints were/)
})

// For `require`, tsx makes a copy of a package that the command has as ES modules.
const TSX = ['--', 'node', '--import', 'tsx']
const NO_TYPES = ESM.replace('(url)', '(url: string)')

test('implied ids and dev mode of another copy of the package are seen', async () => {
  const implies = NO_TYPES.replace('true', "true, implies: { 'menu:edit': ['menu:read'] }")
  const file = program('copy.ts', `${implies}guarded('/menu').listen()`)
  const { code, out, err } = await policy([...TSX, file])
  assert.equal(code, 0, err)
  assert.deepEqual(rowsOf(out), [...MENU, '', 'menu:edit implies menu:read'])
  assert.match(err, /^the application runs in dev mode: /m)
})

test('another copy of the package that has missed a route makes no matrix', async () => {
  const file = program(
    'late-copy.ts',
    `const app = require('fastify')()
    app.get('/early', { exposeHeadRoute: false }, async () => 'early')
    app.register(require('fastify-tenant-auth'), { devMode: true })
    app.listen()`,
  )
  const { code, out, err } = await policy([...TSX, file])
  assert.deepEqual([code, out], [1, ''])
  assert.match(err, /policy: a guard does not know GET \/early, .* another copy of fastify-tenant-/)
})

test('SIGINT reaches the application, which may end in its own way', async () => {
  const code = `process.on('SIGINT', () => { console.log('tidy'); process.exit(0) })
  setInterval(() => {}, 1000); console.log('started')`
  const child = start(['--', 'node', program('tidy.mjs', code)])
  const exit = once(child, 'exit')
  child.stderr?.once('data', () => child.kill('SIGINT'))
  const { code: exitCode, err } = await ended(child, exit)
  assert.equal(exitCode, 130, err)
  assert.match(err, /tidy/)
})

test('the notes demo has the policies of its policy.json', async () => {
  const root = resolve('.')
  const lock = join(root, 'test/examples/notes/policy.json')
  const { code, out, err } = await policy(
    ['--check', lock, '--', 'npm', 'start', '--', '--dev'],
    root,
  )
  assert.deepEqual([code, out], [0, ''], err)
})
