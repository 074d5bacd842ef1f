import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { listItems, sectionOf } from './helpers/documents/markdown.ts'

const promises = listItems(readFileSync('.github/SECURITY.md', 'utf8'), 'What is promised')

test('every promise of the security policy names the tests that hold it', () => {
  assert.ok(promises.length >= 15, `only ${promises.length} promises were found`)
  for (const promise of promises) {
    const [, holders = ''] = promise.split(' Held by ')
    const files = [...holders.matchAll(/`(test\/[\w./-]+)`/g)].map(([, file = '']) => file)
    assert.ok(files.length > 0, promise)
    for (const file of files) assert.ok(existsSync(file), file)
  }
})

test('what is supported is what package.json says', () => {
  const text = sectionOf(readFileSync('.github/SECURITY.md', 'utf8'), 'What is supported')
  const { version, engines, peerDependencies, devDependencies } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  const [oldest, newest] = ['oldest', 'newest'].map(
    (which) => /@~(\d+\.\d+)/.exec(devDependencies[`typescript-${which}`])?.[1],
  )
  const plain = text.replaceAll(/\s+/g, ' ')
  for (const each of [
    `| ${version.split('.')[0]}.x |`,
    `Node \`${engines.node}\` with Fastify \`${peerDependencies.fastify}\``,
    `TypeScript ${oldest} to ${newest}`,
  ]) {
    assert.ok(plain.includes(each), each)
  }
})
