import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Fastify from 'fastify'
import { COMMANDS, runCommandLine } from '../../../../lib/entrypoints/cli/main.ts'
import type { PolicyReport } from '../../../../lib/entrypoints/cli/observe/report.ts'
import { matrixJson } from '../../../../lib/entrypoints/cli/policy/matrix.ts'
import {
  policyCommand,
  policyNotes,
  readPolicyOptions,
} from '../../../../lib/entrypoints/cli/policy/policy-command.ts'
import { installedGuards } from '../../../../lib/guard/scopes.ts'
import tenantAuth from '../../../../lib/index.ts'
import { listRoutes, wholeRoute } from '../../../../lib/routes/route-list.ts'
import { authority } from '../../../helpers/app/guarded-app.ts'
import { listed, matrixOf } from '../../../helpers/app/listed.ts'
import { tempFolder } from '../../../helpers/documents/temp-folder.ts'
import { recordedShell } from '../../../helpers/processes/recorded-shell.ts'
import { guarded, reporting, reportOf } from '../../../helpers/processes/reporting-program.ts'
import { until } from '../../../helpers/processes/until.ts'

const folder = tempFolder()
const ROUTES = [listed('/health', { noauth: true }), listed('/orders', { require: ['order:read'] })]
const CLOSED = [listed('/health'), listed('/orders', { require: ['order:read'] })]
const JSON_TEXT = matrixJson(matrixOf([ROUTES]))

/** Runs the command on a program that reports these routes. */
async function ran(args: readonly string[], { env = {}, isTTY = false, routes = ROUTES } = {}) {
  const shell = recordedShell(env, isTTY)
  const program = reporting([reportOf({ applications: [guarded(routes)] })])
  const code = await runCommandLine(['policy', ...args, '--', ...program], COMMANDS, shell)
  return { code, ...shell.printed }
}

test('the matrix is printed as a table, as JSON or in Markdown, and nothing beside it', async () => {
  const table = await ran([])
  assert.deepEqual([table.code, table.err], [0, ''])
  const found = table.out
  assert.match(found, /^method {2}url {6}who may {4}tenant {2}require {5}receives\nGET {5}\/hea/)
  assert.deepEqual(await ran(['--json']), { code: 0, out: JSON_TEXT, err: '' })
  const markdown = await ran(['--format', 'markdown'])
  assert.match(markdown.out, /^\| method \| url \|.*\n\| --- .*\n\| GET \| `\/health` \| everybody/)
})

test('--format html prints one page; with --check it says what opened and what closed', async () => {
  const page = await ran(['--format', 'html'])
  assert.deepEqual([page.code, page.err], [0, ''])
  assert.match(page.out, /^<!DOCTYPE html>\n.*<code>\/health<.*<\/html>\n$/s)
  assert.doesNotMatch(page.out, /Opened|Closed/)
  const differing = folder.write(matrixJson(matrixOf([CLOSED])), 'page.json')
  const checked = await ran(['--check', differing, '--format', 'html'])
  assert.equal(checked.code, 1)
  assert.match(checked.err, /page\.json does not hold: differences 1; /)
  assert.match(checked.out, /Opened: 1<.*<li><code>GET \/health<\/code>: was guarded, is open</s)
  assert.match(checked.out, /Closed: 0<.*<code>\/orders</s)
  const same = await ran(['--check', folder.write(JSON_TEXT, 'same.json'), '--format', 'html'])
  assert.equal(same.code, 0)
  assert.match(same.out, /<p>.*same\.json holds: applications 1, routes 2<.*Opened: 0</s)
})

test('open routes are yellow on a terminal, and only there', async () => {
  const line = '\u001b[33mGET     /health  everybody\u001b[39m'
  assert.equal((await ran([], { isTTY: true })).out.includes(line), true)
  const found = (await ran([], { isTTY: true, env: { NO_COLOR: '1' } })).out.includes('\u001b')
  assert.equal(found, false)
})

test('--write writes the JSON, and prints the matrix only if a format is given', async () => {
  const file = join(folder.path, 'written.json')
  const said = `${file} is written: applications 1, routes 2\n`
  assert.deepEqual(await ran(['--write', file]), { code: 0, out: '', err: said })
  assert.equal(readFileSync(file, 'utf8'), JSON_TEXT)
  const again = await ran(['--write', file, '--json'])
  assert.deepEqual(again, { code: 0, out: JSON_TEXT, err: said })
})

test('a file that --write wrote holds', async () => {
  const file = folder.write(JSON_TEXT, 'holds.json')
  const said = `${file} holds: applications 1, routes 2\n`
  assert.deepEqual(await ran(['--check', file]), { code: 0, out: '', err: said })
  const json = await ran(['--check', file, '--json'])
  assert.deepEqual(json, { code: 0, out: '{\n  "differences": []\n}\n', err: said })
})

test('a difference is printed in words, in red if it opens something, and the exit code is 1', async () => {
  const file = folder.write(matrixJson(matrixOf([CLOSED])), 'differs.json')
  const words = 'GET /health: was guarded, is open'
  const said = `${file} does not hold: differences 1; if they are meant, --write it anew\n`
  assert.deepEqual(await ran(['--check', file]), { code: 1, out: `opens    ${words}\n`, err: said })
  const coloured = await ran(['--check', file], { env: { FORCE_COLOR: '1' } })
  assert.equal(coloured.out, `\u001b[31mopens  \u001b[39m  ${words}\n`)
  const markdown = await ran(['--check', file, '--format', 'markdown'])
  assert.equal(markdown.out, '- **opens** `GET /health`: was guarded, is open\n')
  const { out } = await ran(['--check', file, '--json'])
  assert.deepEqual(JSON.parse(out), {
    differences: [{ effect: 'opens', text: 'was guarded, is open', route: 'GET /health' }],
  })
})

test('a difference that opens nothing makes the exit code 1, too', async () => {
  for (const [effect, was, routes] of [
    ['closes', [listed('/x', { noauth: true })], [listed('/x')]],
    ['changes', [listed('/x')], [listed('/x'), listed('/y')]],
  ] as const) {
    const file = folder.write(matrixJson(matrixOf([[...was]])), `${effect}.json`)
    const { code, out } = await ran(['--check', file], { routes: [...routes] })
    assert.deepEqual([code, out.split(' ', 1)], [1, [effect]])
  }
})

test('no text of a file or an application can move, hide or mark up the output', async () => {
  const odd = '/a\u202eb\n\u001b[31m|`c`'
  const was = [listed(odd, { require: ['<b>:\u2066c\n'] })]
  const file = folder.write(matrixJson(matrixOf([was])), 'odd\u202e.json')
  const routes = [
    listed(odd, { noauth: true }),
    listed('/y\u200b', { constraints: { a: '\u2060' } }),
  ]
  const given = { routes }
  const seen = /^[\n -~]*$/
  const table = await ran(['--check', file], given)
  assert.equal(
    table.out,
    'opens    GET /a\\u202eb\\u000a\\u001b[31m|`c`: was guarded, is open\n' +
      'changes  GET /y\\u200b (a \\u2060): is new: guarded, tenant none, require none\n',
  )
  const closed = [listed(odd), listed('/y\u200b', { constraints: { a: '\u2060' } })]
  const markdown = await ran(['--check', file, '--format', 'markdown'], { routes: closed })
  assert.equal(
    markdown.out,
    '- **opens** `` GET /a\\u202eb\\u000a\\u001b[31m|`c` ``: ' +
      'require was \\<b\\>:\\\\u2066c\\\\u000a, is none\n' +
      '- **changes** `GET /y\\u200b (a \\u2060)`: is new: guarded, tenant none, require none\n',
  )
  const json = await ran(['--check', file, '--json'], given)
  const { differences }: { differences: { route: string }[] } = JSON.parse(json.out)
  assert.equal(differences[0]?.route, `GET ${odd}`)
  for (const args of [
    [],
    ['--json'],
    ['--format', 'markdown'],
    ['--format', 'html'],
    ['--write', file],
  ]) {
    const { out, err } = await ran(args, given)
    assert.match(out + err, seen)
  }
  assert.match(table.err + json.out + json.err, seen)
})

test('invisible characters in the name of a file are shown by their numbers', async () => {
  const { code, err } = await ran(['--check', join(folder.path, 'not\u202e\nthere')])
  assert.equal(code, 1)
  assert.match(
    err,
    /^fastify-tenant-auth policy: .*not\\u202e\\u000athere cannot be read \(ENOENT\);.*\n$/,
  )
})

/** Files that cannot be checked, by their content; null: there is none. */
const UNUSABLE: readonly [what: string, content: string | null, message: RegExp][] = [
  [
    'missing',
    null,
    /cannot be read \(ENOENT\); make it with 'fastify-tenant-auth policy --write'$/,
  ],
  ['no JSON', '{', /cannot be used: it is no JSON; make it with/],
  [
    'half merged',
    '<<<<<<< HEAD\n{}',
    /cannot be used: it has conflict markers of Git; make it with/,
  ],
  [
    'of another shape',
    '{"routes":[]}',
    /: it is no policy matrix: \/applications is not as --write/,
  ],
]

for (const [what, content, message] of UNUSABLE) {
  test(`a file that is ${what} is refused before the application runs`, async () => {
    const name = `${what}.json`
    const file = content === null ? join(folder.path, name) : folder.write(content, name)
    const trace = join(folder.path, `${what}.ran`)
    const args = ['--check', file, '--', 'sh', '-c', `touch '${trace}'`]
    await assert.rejects(policyCommand.run(args, recordedShell()), { name: 'Error', message })
    assert.equal(existsSync(trace), false)
  })
}

test('a file that cannot be written is an error, and nothing is left beside it', async () => {
  const file = join(folder.path, 'is-a-folder')
  mkdirSync(join(file, 'x'), { recursive: true })
  const before = readdirSync(folder.path)
  const { code, err } = await ran(['--write', file])
  assert.equal(code, 1)
  assert.match(err, /^fastify-tenant-auth policy: .*is-a-folder cannot be written \(E\w+\)\n$/)
  assert.deepEqual(readdirSync(folder.path), before)
  const nowhere = await ran(['--write', join(folder.path, 'no-such-folder', 'x.json')])
  assert.equal(nowhere.code, 1)
  assert.match(nowhere.err, /no-such-folder.x\.json cannot be written \(ENOENT\)\n$/)
})

test('a link stays a link, and the file that it leads to keeps its mode', async () => {
  const file = folder.write('before', 'real.json')
  chmodSync(file, 0o640)
  const link = join(folder.path, 'link.json')
  symlinkSync('real.json', link)
  const before = readdirSync(folder.path)
  assert.equal((await ran(['--write', link])).code, 0)
  assert.equal(lstatSync(link).isSymbolicLink(), true)
  assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).mode & 0o777], [JSON_TEXT, 0o640])
  assert.deepEqual(readdirSync(folder.path), before)
})

test('the target of a link is written: a new file, and a file of two names', async () => {
  const [link, target] = [join(folder.path, 'new-link.json'), join(folder.path, 'new.json')]
  symlinkSync(target, link)
  assert.equal((await ran(['--write', link])).code, 0)
  const found = [lstatSync(link).isSymbolicLink(), readFileSync(target, 'utf8')]
  assert.deepEqual(found, [true, JSON_TEXT])
  const [first, second] = [folder.write('before', 'first.json'), join(folder.path, 'second.json')]
  linkSync(first, second)
  assert.equal((await ran(['--write', first])).code, 0)
  assert.equal(readFileSync(second, 'utf8'), JSON_TEXT)
})

/** Runs the command on a program that reports this. */
async function observing(args: readonly string[], report: Partial<PolicyReport>) {
  const shell = recordedShell()
  const program = reporting([reportOf(report)])
  const code = await runCommandLine(['policy', ...args, '--', ...program], COMMANDS, shell)
  return { code, ...shell.printed }
}

test('notes go to the standard error alone', async () => {
  const more = { isInDevMode: true, unguarded: [[{ method: 'GET', url: '/metrics' }]] }
  const { code, out, err } = await observing(['--json'], {
    applications: [guarded(ROUTES)],
    ...more,
  })
  assert.deepEqual([code, out], [0, JSON_TEXT])
  assert.match(err, /^the application runs in dev mode: .*\nnot in the matrix: .* GET \/metrics\n$/)
})

/** The routes of an application with a function as a constraint. */
async function routesNear(near: (place: string) => boolean) {
  const geo = {
    name: 'geo',
    storage() {
      const stored: [(place: string) => boolean, Handler][] = []
      return {
        get: (place: string) => stored.find(([isHere]) => isHere(place))?.[1] ?? null,
        set: (isHere: (place: string) => boolean, handler: Handler) => {
          stored.push([isHere, handler])
        },
      }
    },
    deriveConstraint: () => 'here',
    validate: () => undefined,
  }
  type Handler = (...args: unknown[]) => void
  const app = Fastify()
  app.addConstraintStrategy(Object(geo))
  await app.register(tenantAuth, authority.options)
  app.get('/orders', { constraints: Object({ geo: near }), exposeHeadRoute: false }, () => 'x')
  await app.ready()
  const routes = installedGuards(app).flatMap(({ registry }) => listRoutes(registry))
  await app.close()
  return routes.map(wholeRoute)
}

test('a constraint that is a function cannot be compared, and the lock says so', async () => {
  const file = join(folder.path, 'functions.json')
  const near = (place: string) => place === 'here'
  await ran(['--write', file], { routes: await routesNear(near) })
  const other = { near: () => true }
  const { code, err } = await ran(['--check', file], { routes: await routesNear(other.near) })
  assert.equal(code, 0)
  const place = 'GET /orders (geo "[Function: near] (cannot be compared)")'
  assert.ok(err.includes(`the lock cannot compare geo of ${place}\n`), err)
})

test('a route and an application that have lost their guards open', async () => {
  const [was, admin] = [ROUTES, [listed('/users')]]
  const file = folder.write(matrixJson(matrixOf([was, admin])), 'lost.json')
  const { code, out, err } = await observing(['--check', file], {
    applications: [guarded(ROUTES.slice(0, 1), [{ method: 'GET', url: '/orders' }])],
    unguarded: [[{ method: 'GET', url: '/users' }]],
  })
  assert.equal(code, 1)
  assert.deepEqual(
    out.split('\n').map((line) => line.split(': was')[0]),
    [
      'opens    guarded applications: were 2, are 1',
      'opens    application 1: GET /orders',
      'opens    application 2: GET /users',
      '',
    ],
  )
  assert.match(err, /^not in the matrix: .*\n.* does not hold: differences 3; /)
})

test('fewer applications than --applications says are an error', async () => {
  const { code, out, err } = await observing(['--applications', '2'], {
    applications: [guarded(ROUTES)],
  })
  assert.deepEqual([code, out], [1, ''])
  assert.match(
    err,
    /policy: 1 of 2 guarded applications listened before it ended; a process with NODE_OPTIONS /,
  )
})

test('nothing is written if the application fails', async () => {
  const file = folder.write('as it was', 'kept.json')
  const shell = recordedShell()
  const args = ['policy', '--write', file, '--', 'sh', '-c', 'exit 3']
  assert.equal(await runCommandLine(args, COMMANDS, shell), 1)
  const message = 'fastify-tenant-auth policy: the application ended with exit code 3\n'
  assert.deepEqual(shell.printed, { out: '', err: message })
  assert.equal(readFileSync(file, 'utf8'), 'as it was')
})

test('a signal ends the command with the exit code that shells know it by', async () => {
  const ready = join(folder.path, 'ready')
  const shell = recordedShell()
  const run = policyCommand.run(['--', 'sh', '-c', `touch ${ready}; exec sleep 100`], shell)
  await until(() => existsSync(ready))
  shell.emit('SIGTERM', 'SIGTERM')
  assert.equal(await run, 143)
})

const DEV_MODE =
  'the application runs in dev mode: each request acts as the mock user, without a token; the matrix is what holds outside of dev mode'
const METRICS = [
  { method: 'GET', url: '/metrics' },
  { method: 'HEAD', url: '/metrics' },
]
const without = (routes: number, first: string) =>
  `not in the matrix: a Fastify instance that listens without a guard, with ${routes} routes, such as ${first}`

test('dev mode is noted, and each instance without a guard, once', () => {
  const unguarded = [METRICS, [{ method: 'GET', url: '/\u001b[2J' }]]
  const reports = [reportOf({ unguarded }), reportOf({ unguarded, isInDevMode: true })]
  assert.deepEqual(policyNotes(reports), [
    DEV_MODE,
    without(2, 'GET /metrics'),
    without(1, 'GET /\\u001b[2J'),
  ])
})

const NONE = {
  check: undefined,
  write: undefined,
  format: undefined,
  applications: undefined,
  timeout: 60,
}
const NODE = ['--', 'node', 'app.js']

test('the options stand before `--`, and the program with its own behind it', () => {
  assert.deepEqual(readPolicyOptions(['--', 'node', 'app.js', '--check', 'x', '--', 'y']), {
    ...NONE,
    program: ['node', 'app.js', '--check', 'x', '--', 'y'],
  })
  assert.deepEqual(
    readPolicyOptions([
      ...['--check', 'policy.json', '--format', 'markdown', '--timeout=2.5', '--applications=2'],
      ...NODE,
    ]),
    {
      check: 'policy.json',
      write: undefined,
      format: 'markdown',
      applications: 2,
      timeout: 2.5,
      program: ['node', 'app.js'],
    },
  )
})

for (const args of [['--json'], ['--format', 'json'], ['--json', '--format', 'json']]) {
  test(`${args.join(' ')} asks for JSON`, () => {
    assert.equal(readPolicyOptions([...args, ...NODE]).format, 'json')
  })
}

const BEHIND =
  /^unexpected argument "node": the application stands behind '--', as in '-- node app\.js'; npm exec and yarn 1 take one '--' away, and need one more$/

const WRONG: readonly [args: string[], message: RegExp][] = [
  [[], /^the application is missing: name it behind '--', as in '-- node app\.js'$/],
  [['--'], /^the application is missing/],
  [['--', ''], /^the application is missing/],
  // npm exec and yarn 1 take the first `--` away.
  [['node', 'app.js'], BEHIND],
  [['--json', 'node', '--import', 'tsx', 'app.ts'], BEHIND],
  [['--check', 'x', 'node', 'app.js', '--', '--dev'], BEHIND],
  [['--jsno', 'node', 'app.js'], /Unknown option '--jsno'/],
  [['--chekc', 'x', ...NODE], /Unknown option '--chekc'/],
  [['--check', ...NODE], /--check/],
  [['--check', 'x', '--write', 'y', ...NODE], /^--check and --write exclude each other$/],
  [['--check', 'x', '--check', 'x', ...NODE], /^--check is given twice$/],
  [['--check=', ...NODE], /^the name of the file is empty$/],
  [['--write=', ...NODE], /^the name of the file is empty$/],
  [['--format', 'yaml', ...NODE], /^--format is one of table, json, markdown, html, not "yaml"$/],
  [['--json', '--format', 'table', ...NODE], /^--json contradicts --format table$/],
  [['--applications', '0', ...NODE], /^--applications is a number from 1 to 999, not "0"$/],
  [['--applications', '1.5', ...NODE], /^--applications is a number from 1 to 999, not "1\.5"$/],
  [['--applications', '1000', ...NODE], /^--applications is a number from 1 to 999/],
  [['--timeout', '0', ...NODE], /^--timeout is a number of seconds up to 2147483, not "0"$/],
  [['--timeout', '2147484', ...NODE], /^--timeout is a number/],
  [['--timeout', 'soon', ...NODE], /^--timeout is a number of seconds up to 2147483, not "soon"$/],
]

for (const [args, message] of WRONG) {
  test(`wrong: policy ${args.join(' ')}`, () => {
    assert.throws(() => readPolicyOptions(args), { message })
  })
}
