import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { COMMANDS, runCommandLine } from '../../lib/commands/run-command-line.ts'
import { type RecordedShell, recordedShell } from '../helpers/processes/recorded-shell.ts'
import { runExample, takenPort } from '../helpers/processes/running-example.ts'
import { until } from '../helpers/processes/until.ts'

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
    '--port 0 --audience lunch --user dora --resources lazy-raccoon=menu:read --user eve',
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
  assert.deepEqual(decodeJwt(second)['resources'], {})
  assert.match(shell.printed.err, /Tokens, good for 12 hours, of "dora", "eve":\n$/)
  assert.match(
    shell.printed.err,
    new RegExp(`\\[auth\\]\n {2}issuer = ${issuer}\n {2}audience = lun`),
  )
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
  const { shell, ended } = started('--port 0 --user dora', { NODE_ENV: 'production' })
  assert.equal(await ended, 1)
  assert.deepEqual(shell.printed, {
    out: '',
    err: 'fastify-tenant-auth authority: it does not run where NODE_ENV is production: it signs what anybody asks for\n',
  })
})

test('a port in use is told with the cure, and with what another run is good for', async (t) => {
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
  const { child, printed, until, ended } = runExample(t, ['lib/cli.ts', ...line])
  await until('\n')
  assert.equal(decodeJwt(printed.stdout).sub, 'dora')
  const [, url = ''] = / are at (\S+)/.exec(printed.stderr) ?? []
  assert.equal((await fetch(url)).status, 200)
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
})
