import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

test('the command runs, and ends with the exit code of what it ran', () => {
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, ['--import', 'tsx', 'lib/cli.ts', ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
  assert.match(run('policy', '--help'), /^Usage: fastify-tenant-auth policy /)
  assert.throws(() => run('policy', '--chekc'), { status: 2, stdout: '' })
})
