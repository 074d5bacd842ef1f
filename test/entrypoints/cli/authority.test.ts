import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { readAuthorityOptions } from '../../../lib/entrypoints/cli/authority.ts'
import { UsageError } from '../../../lib/entrypoints/cli/command.ts'
import { COMMANDS, runCommandLine } from '../../../lib/entrypoints/cli/main.ts'
import { type RecordedShell, recordedShell } from '../../helpers/processes/recorded-shell.ts'
import { runExample, takenPort } from '../../helpers/processes/running-example.ts'
import { until } from '../../helpers/processes/until.ts'

function started(line: string, env: RecordedShell['env'] = {}) {
  const shell = recordedShell(env)
  const ended = runCommandLine(['authority', ...line.split(' ')], COMMANDS, shell)
  return { shell, ended }
}

async function listening({ printed }: RecordedShell): Promise<string> {
  await until(() => printed.err.includes('Ctrl-C ends it.'))
  return / listens at (http:\/\/localhost:\d+), /.exec(printed.err)?.[1] ?? ''
}

test('tokens are all that it prints to the standard output, one line for each user', async () => {
  const { shell, ended } = started(
    '--port 0 --audience lunch --user dora --resources lazy-raccoon=menu:read --user eve --claim typ=Bearer --claim a=b=c',
  )
  const issuer = await listening(shell)
  await until(() => shell.printed.out.split('\n').length === 3)
  const [first = '', second = '', rest] = shell.printed.out.split('\n')
  assert.equal(rest, '')
  const { iat = 0, exp = 0, ...claims } = decodeJwt(first)
  assert.deepEqual(claims, {
    iss: issuer,
    aud: 'lunch',
    sub: 'dora',
    preferred_username: 'dora',
    resources: { 'lazy-raccoon': ['menu:read'] },
  })
  assert.equal(exp - iat, 12 * 60 * 60)
  const { resources, typ, a } = decodeJwt(second)
  assert.deepEqual({ resources, typ, a }, { resources: {}, typ: 'Bearer', a: 'b=c' })
  assert.match(shell.printed.err, /Tokens, good for 12 hours, of "dora", "eve":\n$/)
  const found = shell.printed.err
  assert.match(found, new RegExp(`\\[auth\\]\n {2}issuer = ${issuer}\n {2}audience = lun`))
  const response = await fetch(`${issuer}/.well-known/openid-configuration`)
  assert.equal(Object(await response.json())['issuer'], issuer)
  shell.emit('SIGINT', 'SIGINT')
  assert.equal(await ended, 0)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  test(`${signal} ends it, and it listens no more`, async () => {
    const { shell, ended } = started('--port 0')
    const issuer = await listening(shell)
    assert.match(shell.printed.err, /\n\nFor a token: --user NAME --resources TENANT=ID,ID\n$/)
    shell.emit(signal, signal)
    assert.equal(await ended, 0)
    assert.deepEqual(shell.eventNames(), [])
    await assert.rejects(fetch(issuer))
  })
}

test('it refuses to run where NODE_ENV is production', async () => {
  for (const NODE_ENV of ['production', 'production ']) {
    const { shell, ended } = started('--port 0 --user dora', { NODE_ENV })
    assert.equal(await ended, 1)
    assert.deepEqual(shell.printed, {
      out: '',
      err: 'fastify-tenant-auth authority: it does not run where NODE_ENV is production: it signs what anybody asks for\n',
    })
  }
})

test('a port in use is an error with its cure', async (t) => {
  const port = await takenPort(t)
  const { shell, ended } = started(`--port ${port} --user dora`)
  assert.equal(await ended, 1)
  assert.deepEqual(shell.printed, {
    out: '',
    err: `fastify-tenant-auth authority: port ${port} of localhost cannot be had (EADDRINUSE); end what listens there, or choose another --port. Another authority has other keys: only its own run can print its tokens\n`,
  })
})

test('as a process it runs until a signal comes, and then ends with 0', async (t) => {
  const line = ['authority', '--port', '0', '--user', 'dora']
  const { child, printed, until, ended } = runExample(t, ['lib/entrypoints/cli/index.ts', ...line])
  await until('\n')
  assert.equal(decodeJwt(printed.stdout).sub, 'dora')
  const [, url = ''] = / are at (\S+)/.exec(printed.stderr) ?? []
  assert.equal((await fetch(url)).status, 200)
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
})

test('without options it is the authority of the default configuration', () => {
  assert.deepEqual(readAuthorityOptions([]), { port: 8081, audience: 'api', users: [] })
  assert.deepEqual(readAuthorityOptions(['--']), readAuthorityOptions([]))
})

test('each user holds the resources that stand behind it', () => {
  const line =
    '--user dora --resources a=menu:read,menu:write --port 0 --resources b= --user eve --audience x --resources a=x:y --resources a=z:y --resources *=q:r --user zoe'
  assert.deepEqual(readAuthorityOptions(line.split(' ')), {
    port: 0,
    audience: 'x',
    users: [
      { name: 'dora', resources: { a: ['menu:read', 'menu:write'], b: [] }, claims: {} },
      { name: 'eve', resources: { a: ['x:y', 'z:y'], '*': ['q:r'] }, claims: {} },
      { name: 'zoe', resources: {}, claims: {} },
    ],
  })
})

const RESOURCES = /--resources is written as lazy-raccoon=menu:read,menu:write, not "/
const PORT = /--port is a number from 0 \(any free one\) to 65535, not "/

const WRONG: readonly [line: string, message: RegExp][] = [
  ['--resources a=b:c', /--resources stands behind the --user who holds them/],
  ['--claim typ=Bearer --user dora', /--claim NAME=TEXT stands behind the --user/],
  ['--user dora --claim typ', /--claim NAME=TEXT stands/],
  ['--resources a=b:c --user dora', /--resources stands behind the --user/],
  ['--user dora --resources a', RESOURCES],
  ['--user dora --resources =b:c', RESOURCES],
  ['--user dora --resources a=b', RESOURCES],
  ['--user dora --resources a=b:c,', RESOURCES],
  ['--user dora --resources a=b:c=d', RESOURCES],
  ['--user dora --resources a\tb=b:c', RESOURCES],
  ['--user dora --resources __proto__=b:c', RESOURCES],
  ['--user dora --resources constructor=b:c', RESOURCES],
  ['--user dora --resources toString=', RESOURCES],
  [`--user dora --resources ${'a'.repeat(256)}=b:c`, RESOURCES],
  ['--user=', /the name of the user is empty/],
  ['--audience=', /the audience is empty/],
  ['--port 1 --user dora --port 2', /--port is given twice/],
  ['--port http', PORT],
  ['--port 65536', PORT],
  ['--port=-1', PORT],
]

for (const [line, message] of WRONG) {
  test(`${line} is a wrong command line`, () => {
    assert.throws(
      () => readAuthorityOptions(line.split(' ')),
      (error: unknown) => error instanceof UsageError && message.test(error.message),
    )
  })
}

for (const line of ['--host 0.0.0.0', 'start']) {
  test(`${line} is a wrong command line, since there is no such option`, () => {
    assert.throws(() => readAuthorityOptions(line.split(' ')), { name: 'TypeError' })
  })
}
