import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { test } from 'node:test'
import { tempFolder } from './helpers/documents/temp-folder.ts'

const folder = tempFolder()

function run(command: string, ...words: string[]): string {
  return execFileSync(command, words, { cwd: folder.path, encoding: 'utf8' })
}

function commit(subject: string): void {
  const person = ['-c', 'user.name=Dora', '-c', 'user.email=dora@example.com']
  run(
    'git',
    ...person,
    '-c',
    'commit.gpgsign=false',
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    subject,
  )
}

const notes = () => run('npm', 'run', '--silent', 'notes')

test('the notes of a release are its commits, sorted by room', () => {
  copyFileSync('package.json', `${folder.path}/package.json`)
  run('git', 'init', '-q')
  commit('keys: the first set')
  commit('guard: the first refusal')
  assert.equal(notes(), '- guard: the first refusal\n- keys: the first set\n')

  run('git', 'tag', 'v1.0.0')
  commit('tokens: a second one')
  commit('tests: more of them')
  commit('house: a move')
  commit('docs: a page')
  assert.equal(notes(), '- docs: a page\n- tokens: a second one\n')

  run('git', 'tag', 'v1.1.0')
  assert.equal(notes(), '- docs: a page\n- tokens: a second one\n')
})
