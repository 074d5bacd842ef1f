import assert from 'node:assert/strict'
import { execFileSync, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { test } from 'node:test'
import { runs } from '../../helpers/processes/program.ts'

const FULL = '/dev/full'

test('the command runs, and ends with the exit code of what it ran', () => {
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, [...runs('lib/entrypoints/cli/index.ts'), ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
  assert.match(run('policy', '--help'), /^Usage: fastify-tenant-auth policy /)
  assert.throws(() => run('policy', '--chekc'), { status: 2, stdout: '' })
})

test('a reader that goes away changes no exit code, and brings no stack', async () => {
  const args = [...runs('lib/entrypoints/cli/index.ts'), 'policy', '--help']
  const command = spawn(process.execPath, args, { stdio: 'pipe' })
  command.stdout.destroy()
  let errors = ''
  command.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const [code] = await once(command, 'close')
  assert.deepEqual([code, errors], [0, ''])
})

test('a full disk is named, and the exit code is no longer 0', { skip: !existsSync(FULL) }, () => {
  const run = (args: readonly string[], full: 'stdout' | 'stderr') => {
    const file = openSync(FULL, 'w')
    const stdio: StdioOptions =
      full === 'stdout' ? ['ignore', file, 'pipe'] : ['ignore', 'pipe', file]
    const command = [...runs('lib/entrypoints/cli/index.ts'), ...args]
    const { status, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', stdio })
    closeSync(file)
    return [status, stderr]
  }
  const words = 'fastify-tenant-auth: the output cannot be written (ENOSPC)\n'
  assert.deepEqual(run(['policy', '--help'], 'stdout'), [1, words])
  assert.deepEqual(run(['policy'], 'stderr'), [2, null])
})
