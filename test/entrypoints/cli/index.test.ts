import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { runs } from '../../helpers/processes/program.ts'

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
