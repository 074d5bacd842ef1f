import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

/** A line of a comment, or one with a comment at its end; in SQL a comment begins with `--`. */
const COMMENT = /^\s*(?:\/\/|\/?\*|-- )|\s\/\/ /

const files = ['lib', 'test'].flatMap((folder) =>
  readdirSync(folder, { recursive: true })
    .map((name) => `${folder}/${name}`)
    .filter((name) => /\.(?:[cm]?ts|[cm]?js|sql)$/.test(name)),
)

test('no line of a comment is wider than 100 columns', () => {
  const wide = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        COMMENT.test(line) && [...line].length > 100 ? [`${file}:${index + 1}`] : [],
      ),
  )
  assert.deepEqual(wide, [])
  assert.ok(files.length > 300, `${files.length} files`)
})
