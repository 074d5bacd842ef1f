import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controlledDocument } from '../helpers/servers/controlled-document.ts'

for (const isLazy of [false, true]) {
  const kind = isLazy ? 'on demand' : 'by a timer'

  test(`the state tells age and last failure of what is loaded ${kind}`, async (t) => {
    const { document, pass, succeed, fail } = controlledDocument(t, { isLazy, timeout: 100_000 })
    const shows = (state: string, age: number | null, failure: string | null = null) =>
      assert.deepEqual(document.state(), { state, age, failure })
    shows('none', null)
    document.open()
    document.current()
    shows('none', null)
    await fail()
    shows('none', null, 'answered with status 500')
    void document.reload()
    shows('none', null, 'answered with status 500')
    await fail(new TypeError('secret'))
    shows('none', null, 'the answer cannot be used')
    void document.reload()
    await succeed('one')
    shows('fresh', 0)
    await pass(7.5)
    shows('fresh', 7.5)
    await pass(592.4)
    shows('fresh', 599.9)
    await pass(0.1)
    shows('stale', 600)
    await pass(3599.9)
    shows('stale', 4199.9)
    void document.reload()
    await fail()
    shows('stale', 4199.9, 'answered with status 500')
    await pass(0.1)
    shows('none', 4200, 'answered with status 500')
    void document.reload()
    await succeed('two')
    shows('fresh', 0)
  })
}

test('a load that closing has ended is no failure', async (t) => {
  const { document, pass } = controlledDocument(t)
  document.open()
  document.close()
  await pass(0)
  assert.deepEqual(document.state(), { state: 'none', age: null, failure: null })
})
