import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { before, test } from 'node:test'
import { PAGES } from '../helpers/documents/pages.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const folder = tempFolder()

before(() => {
  execFileSync('node_modules/.bin/typedoc', ['--skipErrorChecking', '--out', folder.path], {
    stdio: 'ignore',
  })
})

test('the API reference has a page for each entry point, and says what an option does', () => {
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

test('the site has README.md and each page, and their links lead to pages of it', () => {
  const guides = PAGES.slice(1).map((page) =>
    page.replace('.github/docs/', '').replace('.md', '').replaceAll('/', '_'),
  )
  const documents = readdirSync(`${folder.path}/documents`).map((name) => basename(name, '.html'))
  assert.deepEqual(documents.sort(), guides.sort())
  const pages = ['index.html', ...documents.map((name) => `documents/${name}.html`)]
  const links = pages.flatMap((page) => {
    const html = readFileSync(`${folder.path}/${page}`, 'utf8')
    return [...html.matchAll(/ href="(?!https?:|\.\.\/")([^"#]+)(?:#([^"]*))?"/g)].map(
      ([, path = '', anchor]) => ({ page, path: join(dirname(page), path), anchor }),
    )
  })
  const found = links.some(({ anchor }) => anchor === 'a-test-authority-on-your-machine')
  assert.ok(found, 'anchors')
  const shown = links.filter(({ path, anchor }) => !leadsSomewhere(path, anchor))
  assert.deepEqual(shown, [])
})

function leadsSomewhere(path: string, anchor: string | undefined): boolean {
  const file = join(folder.path, path.endsWith('/') ? `${path}index.html` : path)
  if (!existsSync(file)) return false
  return anchor === undefined || readFileSync(file, 'utf8').includes(` id="${anchor}"`)
}

/** Not a namespace inside one, such as `index.errors`. */
function isEntryPoint(page: string): boolean {
  return page.split('.').length === 2
}
