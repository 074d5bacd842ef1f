import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { listItems } from './helpers/documents/markdown.ts'

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
