import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import test, { after } from 'node:test'
import { assertGuarded, createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import {
  answerTo,
  type ShownCall,
  shownCalls,
  shownVariables,
} from '../helpers/documents/shown-calls.ts'
import {
  type Owner,
  type RunningExample,
  runCommand,
  runExample,
  takenPort,
} from '../helpers/processes/running-example.ts'
import { createNotesApp } from './notes/app.ts'

const START = 'test/examples/notes/start.ts'
const ANY_PORT = { PORT: '0', AUTH_PORT: '0' }
const LAST_LINE = 'Ctrl-C ends the demo.'

async function runDemo(t: Owner, ...args: string[]): Promise<RunningExample> {
  const demo = runExample(t, [START, ...args], ANY_PORT)
  await demo.until(LAST_LINE)
  return demo
}

const portIn = (screen: string) => Number(/up at http:\/\/127\.0\.0\.1:(\d+)/.exec(screen)?.[1])

async function isUp(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isOpen
}

/** One demo for the tests that do not end it, and do not ask for what others have sent it. */
const shared = await runDemo({ after })

/** Does what the screen says: sets the variables that it shows, then runs each command. */
async function assertAnswers(screen: string): Promise<void> {
  const calls = shownCalls(screen)
  const found: string[] = []
  for (const { what, command } of calls) {
    const { status } = await answerTo(command, shownVariables(screen))
    found.push(`${status} ${what}`)
  }
  assert.deepEqual(
    found,
    calls.map(({ status, what }) => `${status} ${what}`),
  )
}

function statusesOf(calls: readonly ShownCall[]): number[] {
  return [...new Set(calls.map(({ status }) => status))].sort()
}

test('every printed command gives the status that the line above it says', async () => {
  const { stdout } = shared.printed
  assert.deepEqual(statusesOf(shownCalls(stdout)), [200, 201, 400, 401, 403, 404])
  await assertAnswers(stdout)
})

test('a token is printed once, and commands are short enough to be read', async () => {
  const { stdout } = shared.printed
  const tokens = stdout.match(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g) ?? []
  assert.equal(tokens.length, 4)
  for (const { command } of shownCalls(stdout)) {
    assert.match(command, /^curl -i /)
    assert.ok(command.length <= 160, `${command.length} characters: ${command}`)
  }
})

test('the printed commands can be pasted into any shell, with their comments', async () => {
  const { stdout } = shared.printed
  for (const { what } of shownCalls(stdout)) assert.doesNotMatch(what, /['"`()[\]*?!$\\]/)
})

test('the two kinds of 403 say which they are, and the 401 says how to authenticate', async () => {
  const { stdout } = shared.printed
  const textOf = async (start: string): Promise<string> => {
    const call = shownCalls(stdout).find(({ what }) => what.startsWith(start))
    assert.ok(call, start)
    return (await answerTo(call.command, shownVariables(stdout))).text
  }
  assert.match(await textOf('tenant:'), /ERR_AUTH_TENANT_FORBIDDEN/)
  assert.match(await textOf('resource:'), /ERR_AUTH_RESOURCE_MISSING/)
  assert.match(await textOf('no token'), /www-authenticate: Bearer realm="api"/)
  assert.match(await textOf('carol'), /ERR_AUTH_TENANT_UNKNOWN/)
})

test('the authorization server publishes its keys where the intro says', async () => {
  const { stdout } = shared.printed
  const [url] = /http:\S+\/openidconnect\/public_keys/.exec(stdout) ?? []
  assert.ok(url, 'the intro names the address')
  const keys: unknown = await (await fetch(url)).json()
  assert.match(JSON.stringify(keys), /"kty":"EC"/)
})

test('--dev runs the same application, and prints no tokens', async (t) => {
  const { printed } = await runDemo(t, '--dev')
  assert.deepEqual(statusesOf(shownCalls(printed.stdout)), [200, 201, 400, 403, 404])
  assert.equal(shownVariables(printed.stdout), '')
  await assertAnswers(printed.stdout)
  assert.match(printed.stderr, /dev mode: every request acts as the mock user dora/)
  assert.doesNotMatch(printed.stdout + printed.stderr, /token|bearer|authoriz/i)
})

/** A line for a request of each kind. */
const LOGGED = [
  /^tenant auth: the keys are those of a test authority \(npx fastify-tenant-auth authority\), /,
  'GET /health 200',
  'GET /whoami 200 alice in no tenant',
  'GET /lazy-raccoon/notes 200 alice in lazy-raccoon',
  'GET /notes?tenant=lazy-raccoon 200 bob in lazy-raccoon',
  /^GET \/lazy-raccoon\/notes 401.*: ERR_AUTH_TOKEN_MISSING, \S/,
  /^GET \/lazy-raccoon\/notes 401.*: ERR_AUTH_TOKEN_INVALID, .*exp/,
  /^GET \/busy-beaver\/notes 403 \w+ in busy-beaver: ERR_AUTH_TENANT_FORBIDDEN, \S/,
  /^POST \/lazy-raccoon\/notes 403 \w+ in lazy-raccoon: ERR_AUTH_RESOURCE_MISSING, \S/,
  /^GET \/notes 400.*: ERR_AUTH_TENANT_MISSING, \S/,
  /^POST \/lazy-raccoon\/notes 400 alice in lazy-raccoon: body\/text must NOT have fewer/,
  /^GET \/extinct-dodo\/notes 404.*: ERR_AUTH_TENANT_UNKNOWN, \S/,
]

test('the log has one plain line for each request: what came, who asked, and why it was refused', async (t) => {
  const { child, printed, ended } = await runDemo(t)
  const calls = shownCalls(printed.stdout)
  for (const { command } of calls) await answerTo(command, shownVariables(printed.stdout))
  child.kill('SIGTERM')
  await ended
  const lines = printed.stderr.trimEnd().split('\n')
  // The one line more is a warning: the keys are those of a test authority.
  assert.equal(lines.length, calls.length + 1, printed.stderr)
  for (const expected of LOGGED) {
    const fits = (line: string) =>
      typeof expected === 'string' ? line === expected : expected.test(line)
    assert.ok(lines.some(fits), `no line ${expected} in:\n${printed.stderr}`)
  }
  assert.doesNotMatch(printed.stderr, /[{}]|eyJ/)
})

test('npm start --dev, whose option npm takes for its own, says that it is not dev mode', async (t) => {
  const demo = runCommand(t, ['npm', 'start', '--dev'], ANY_PORT)
  await demo.until(LAST_LINE)
  assert.match(demo.printed.stdout, /^This is not dev mode\. For that: npm start -- --dev /m)
  assert.doesNotMatch((await runDemo(t, '--dev')).printed.stdout, /not dev mode/)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} ends the demo at once with exit code 0, even with open connections`, {
    // Without help, Node gives such a connection a minute.
    timeout: 30_000,
  }, async (t) => {
    const { child, printed, ended } = await runDemo(t)
    const unused = connect(portIn(printed.stdout), '127.0.0.1').on('error', () => {})
    await once(unused, 'connect')
    child.kill(signal)
    assert.equal(await ended, 0)
    unused.destroy()
  })
}

/** Keeps a program until a signal of its own. One that ends while a signal comes would end by it. */
const HELD = `const held = setInterval(() => {}, 60_000)
process.once('SIGUSR2', () => clearInterval(held))`

test('below npm Ctrl-C comes twice, and still ends it with exit code 0', {
  timeout: 60_000,
}, async (t) => {
  const held = `--import=data:text/javascript,${encodeURIComponent(HELD)}`
  const { child, printed, ended, until } = runExample(t, [START], {
    ...ANY_PORT,
    NODE_OPTIONS: held,
  })
  await until(LAST_LINE)
  child.kill('SIGINT')
  while (await isUp(portIn(printed.stdout)));
  child.kill('SIGINT')
  child.kill('SIGUSR2')
  assert.equal(await ended, 0)
})

for (const variable of ['PORT', 'AUTH_PORT']) {
  test(`if ${variable} is in use, one line says so, and the exit code is 1`, async (t) => {
    const port = await takenPort(t)
    const demo = runExample(t, [START], { ...ANY_PORT, [variable]: String(port) })
    assert.equal(await demo.ended, 1)
    const cure = `Free it, or choose another with ${variable} (0: any free one).`
    // Where the keys had come before, the warning about a test authority stands above it.
    const lines = demo.printed.stderr.replace(/^tenant auth: the keys are those of .*\n/, '')
    assert.equal(lines, `Port ${port} of 127.0.0.1 is in use. ${cure}\n`)
    assert.equal(demo.printed.stdout, '')
  })
}

const BAD_STARTS = [
  {
    args: [],
    env: { PORT: 'http' },
    says: /^PORT must be a port from 0 to 65535, not "http"\.\n$/,
  },
  { args: [], env: { AUTH_PORT: '65536' }, says: /^AUTH_PORT must be a port .*, not "65536"\.\n$/ },
  { args: ['--prod'], env: {}, says: /^Unknown argument: --prod\nUsage: npm start \[-- --dev\]\n/ },
  { args: ['--dev', 'fast'], env: {}, says: /^Unknown argument: fast\nUsage: / },
  { args: ['--dev=no'], env: {}, says: /^Unknown argument: --dev=no\nUsage: / },
  { args: ['--dev'], env: { NODE_ENV: 'production' }, says: /^devMode: .*NODE_ENV.*\n$/ },
]

for (const { args, env, says } of BAD_STARTS) {
  const start = [...Object.entries(env).map((pair) => pair.join('=')), 'npm start', ...args]
  test(`a start with wrong arguments is refused: ${start.join(' ')}`, async (t) => {
    const demo = runExample(t, [START, ...args], { ...ANY_PORT, ...env })
    assert.equal(await demo.ended, 1)
    assert.match(demo.printed.stderr, says)
  })
}

test('each route is closed to those whom its policy refuses', async (t) => {
  const issuer = 'http://localhost:8081'
  const authority = await createTestAuthority({ issuer, audience: 'notes' })
  t.after(() => authority.close())
  const app = await createNotesApp({ publicKeysUrl: await authority.listen() })
  t.after(() => app.close())
  await assertGuarded(app, authority, { tenant: 'lazy-raccoon' })
})
