import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpenQuestions } from '../../lib/outside/open-questions.ts'
import { textsOfOneHash } from '../helpers/arbitraries/texts-of-one-hash.ts'

/** A question whose answer the test gives. */
function asked(open: OpenQuestions<string>, key: string) {
  let give = (_: string) => {}
  const run = () =>
    new Promise<string>((resolve) => {
      give = resolve
    })
  const forgotten: boolean[] = []
  const answer = open.ask(key, {
    run,
    done: (given: string, { isForgotten }) => {
      forgotten.push(isForgotten)
      return given
    },
    failed: String,
  })
  return { answer, give: (given: string) => give(given), forgotten }
}

test('a question is open until its answer has come', async () => {
  const open = new OpenQuestions<string>(1)
  const { answer, give } = asked(open, 'a')
  assert.deepEqual([open.get('a'), open.isFull], [answer, true])
  give('yes')
  assert.equal(await answer, 'yes')
  assert.deepEqual([open.get('a'), open.isFull], [undefined, false])
})

test('a question that is forgotten counts on, and the next one is another', async () => {
  const open = new OpenQuestions<string>(2)
  const old = asked(open, 'a')
  open.forget((key) => key === 'b')
  assert.equal(open.get('a'), old.answer)
  open.forget((key) => key === 'a')
  assert.deepEqual([open.get('a'), open.isFull], [undefined, false])
  const young = asked(open, 'a')
  assert.equal(open.isFull, true)
  old.give('old')
  assert.equal(await old.answer, 'old')
  assert.equal(open.get('a'), young.answer, 'the old answer takes nothing away')
  young.give('young')
  assert.equal(await young.answer, 'young')
  assert.deepEqual([old.forgotten, young.forgotten], [[true], [false]])
})

for (const [what, keys] of [
  ['key', ['a', 'a']],
  ['hash', textsOfOneHash()],
] as const) {
  test(`of two questions with one ${what} the later one can be joined, and each counts`, async () => {
    const open = new OpenQuestions<string>(200)
    const [first, second] = keys.map((key) => ({ key, ...asked(open, key) }))
    assert.ok(first && second, 'there are two')
    const others = Array.from({ length: 198 }, (_, at) => asked(open, `other ${at}`))
    assert.equal(open.isFull, true)
    const isJoined = ({ key, answer }: typeof first) => open.get(key) === answer
    assert.deepEqual([isJoined(first), isJoined(second)], [false, true])
    first.give('one')
    assert.equal(await first.answer, 'one')
    assert.deepEqual([isJoined(second), open.isFull], [true, false])
    second.give('two')
    assert.equal(await second.answer, 'two')
    assert.deepEqual([open.get(first.key), open.get(second.key)], [undefined, undefined])
    for (const [at, { answer }] of others.entries()) assert.equal(open.get(`other ${at}`), answer)
  })
}

test('an answer that is there at once leaves nothing open', () => {
  const open = new OpenQuestions<string>(1)
  const answer = (run: () => string) =>
    open.ask('a', { run, done: (given) => given, failed: (error) => `no: ${error}` })
  assert.equal(
    answer(() => 'yes'),
    'yes',
  )
  assert.match(String(answer(() => JSON.parse(''))), /^no: SyntaxError/)
  assert.deepEqual([open.get('a'), open.isFull], [undefined, false])
})
