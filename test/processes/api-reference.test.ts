import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const folder = tempFolder()

test('the API reference has a page for each entry point, and says what an option does', () => {
  execFileSync('node_modules/.bin/typedoc', ['--skipErrorChecking', '--out', folder.path], {
    stdio: 'ignore',
  })
  assert.deepEqual(readdirSync(`${folder.path}/modules`).filter(isEntryPoint), [
    'certificates.html',
    'claims.html',
    'index.html',
    'introspection.html',
    'revocation.html',
    'testing.html',
  ])
  const options = readFileSync(`${folder.path}/interfaces/index.AuthOptions.html`, 'utf8')
  assert.match(options, /Time beyond <code>keysMaxAge<\/code> that a key set still serves/)
})

/** Not a namespace inside one, such as `index.errors`. */
function isEntryPoint(page: string): boolean {
  return page.split('.').length === 2
}
