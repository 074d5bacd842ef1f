import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { sectionOf } from '../helpers/documents/markdown.ts'
import { answerTo, shownCalls } from '../helpers/documents/shown-calls.ts'
import { runExample } from '../helpers/processes/running-example.ts'

const [inDevMode = ''] = sectionOf(readFileSync('README.md', 'utf8'), 'Quick start').split(
  '### With a real token',
)

test('the quick start in dev mode gives the statuses that README.md says', async (t) => {
  const calls = shownCalls(inDevMode)
  assert.deepEqual(
    calls.map(({ status }) => status),
    [200, 403, 403, 404],
  )
  const example = runExample(t, ['test/examples/quick-start.ts', '--dev'], { PORT: '0' })
  await example.until('Server listening at http://127.0.0.1:')
  const [, port = ''] =
    /listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(example.printed.stdout) ?? []
  for (const { status, what, command } of calls) {
    const answer = await answerTo(command.replace(':3000', `:${port}`))
    assert.equal(answer.status, status, what)
  }
})
