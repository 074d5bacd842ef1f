import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import test, { type TestContext } from 'node:test'
import { type RunningExample, runExample, takenPort } from '../helpers/running-example.ts'
import { answerTo, type ShownCall, shownCalls } from '../helpers/shown-calls.ts'

const START = 'test/examples/notes/start.ts'
const ANY_PORT = { PORT: '0', AUTH_PORT: '0' }
const LAST_LINE = 'Ctrl-C ends the demo.'

async function runDemo(t: TestContext, ...args: string[]): Promise<RunningExample> {
  const demo = runExample(t, [START, ...args], ANY_PORT)
  await demo.until(LAST_LINE)
  return demo
}

async function assertAnswers(calls: readonly ShownCall[]): Promise<void> {
  const found: string[] = []
  for (const { what, command } of calls) {
    const { status } = await answerTo(command)
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

test('every printed command gives the status that the line above it says', async (t) => {
  const calls = shownCalls((await runDemo(t)).printed.stdout)
  assert.deepEqual(statusesOf(calls), [200, 201, 400, 401, 403, 404])
  assert.ok(calls.some(({ what }) => what.startsWith('tenant:')))
  assert.ok(calls.some(({ what }) => what.startsWith('resource:')))
  for (const { command } of calls) assert.match(command, /^curl -s -i /)
  await assertAnswers(calls)
})

test('the printed commands can be pasted into any shell: no quote, bracket or wildcard is left open in a comment', async (t) => {
  const { stdout } = (await runDemo(t)).printed
  for (const { what } of shownCalls(stdout)) assert.doesNotMatch(what, /['"`()[\]*?!$\\]/)
})

test('the two kinds of 403 say which they are, and the 401 says how to authenticate', async (t) => {
  const calls = shownCalls((await runDemo(t)).printed.stdout)
  const textOf = async (start: string): Promise<string> => {
    const call = calls.find(({ what }) => what.startsWith(start))
    assert.ok(call, start)
    return (await answerTo(call.command)).text
  }
  assert.match(await textOf('tenant:'), /ERR_AUTH_TENANT_FORBIDDEN/)
  assert.match(await textOf('resource:'), /ERR_AUTH_RESOURCE_MISSING/)
  assert.match(await textOf('no token'), /www-authenticate: Bearer realm="api"/)
  assert.match(await textOf('carol'), /ERR_AUTH_TENANT_UNKNOWN/)
})

test('the authorization server publishes its keys where the intro says', async (t) => {
  const { stdout } = (await runDemo(t)).printed
  const [url] = /http:\S+\/openidconnect\/public_keys/.exec(stdout) ?? []
  assert.ok(url, 'the intro names the address')
  const keys: unknown = await (await fetch(url)).json()
  assert.match(JSON.stringify(keys), /"kty":"EC"/)
})

test('--dev runs the same application without tokens', async (t) => {
  const { printed } = await runDemo(t, '--dev')
  const calls = shownCalls(printed.stdout)
  assert.deepEqual(statusesOf(calls), [200, 201, 400, 403, 404])
  for (const { command } of calls) assert.doesNotMatch(command, /authorization/i)
  await assertAnswers(calls)
  assert.match(printed.stderr, /dev mode: every request acts as the mock user dora/)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} ends the demo at once with exit code 0, whatever connections are open`, {
    // By itself, Node gives such a connection a minute.
    timeout: 30_000,
  }, async (t) => {
    const { child, printed, ended } = await runDemo(t)
    const [, port] = /up at http:\/\/127\.0\.0\.1:(\d+)/.exec(printed.stdout) ?? []
    const unused = connect(Number(port), '127.0.0.1').on('error', () => {})
    await once(unused, 'connect')
    child.kill(signal)
    assert.equal(await ended, 0)
    unused.destroy()
  })
}

test('Ctrl-C comes twice below npm, and still ends it with exit code 0', async (t) => {
  const { child, ended } = await runDemo(t)
  child.kill('SIGINT')
  child.kill('SIGINT')
  assert.equal(await ended, 0)
})

for (const variable of ['PORT', 'AUTH_PORT']) {
  test(`a ${variable} in use is one line that says so, and exit code 1`, async (t) => {
    const port = await takenPort(t)
    const demo = runExample(t, [START], { ...ANY_PORT, [variable]: String(port) })
    assert.equal(await demo.ended, 1)
    const cure = `Free it, or choose another with ${variable} (0: any free one).`
    assert.equal(demo.printed.stderr, `Port ${port} of 127.0.0.1 is in use. ${cure}\n`)
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
  { args: ['--prod'], env: {}, says: /^Unknown option '--prod'/ },
  { args: ['--dev'], env: { NODE_ENV: 'production' }, says: /^devMode: .*NODE_ENV.*\n$/ },
]

for (const { args, env, says } of BAD_STARTS) {
  const start = [...Object.entries(env).map((pair) => pair.join('=')), 'npm start', ...args]
  test(`a start that cannot be meant is refused: ${start.join(' ')}`, async (t) => {
    const demo = runExample(t, [START, ...args], { ...ANY_PORT, ...env })
    assert.equal(await demo.ended, 1)
    assert.match(demo.printed.stderr, says)
  })
}
