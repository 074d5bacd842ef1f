import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

test('the command runs, and ends with the exit code of what it ran', () => {
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, ['--import', 'tsx', 'lib/cli.ts', ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
  assert.equal(run('--version'), `${JSON.parse(readFileSync('package.json', 'utf8')).version}\n`)
  assert.throws(() => run('--verison'), { status: 2, stdout: '' })
})
